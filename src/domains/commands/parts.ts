import type { Catalogue } from './catalogue.ts'
import type { CommandDeps } from './deps.ts'
import type { CommandJournal } from './journal.ts'
import type { SecretBox } from './secret-box.ts'
import type { StartRules } from './start-rules.ts'

/** The dependencies with what all parts of the domain share. */
export interface CommandParts extends CommandDeps {
  readonly catalogue: Catalogue
  readonly journal: CommandJournal
  readonly rules: StartRules
  readonly secrets: SecretBox
}
