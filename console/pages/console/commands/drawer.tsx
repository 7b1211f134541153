import { localSeconds } from '../../../i18n/local.ts'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { addressOf } from '../../../parts/list/list-query.ts'
import { Section } from '../../../parts/section.tsx'
import { session } from '../platform.ts'
import { pathOf } from '../view.ts'
import type { Command } from './model.ts'
import { RunForm } from './run-form.tsx'
import { commandWords } from './words.ts'

export interface CommandDrawerProps {
  readonly command: Command
  readonly onClose: () => void
}

/** One command and the form that runs it. The API has no operation for one alone, so it is that of the list. */
export function CommandDrawer({ command, onClose }: CommandDrawerProps) {
  const words = commandWords()
  const { fields } = words
  const { id, title, description, approval, timeout_seconds } = command
  return (
    <Drawer title={title} onClose={onClose}>
      <FactList
        facts={[
          [fields.description, description],
          [fields.id, id],
          [fields.approval, words.approvals[approval]],
          [fields.timeout_seconds, localSeconds(timeout_seconds)],
        ]}
      />
      <Section title={words.run}>
        <RunForm command={command} />
      </Section>
      <p>
        <a href={addressOf(pathOf({ name: 'executions' }), { command_id: id })}>{words.executions}</a>
      </p>
      {session.may('getCommandPolicy') && (
        <p>
          <a href={`${pathOf({ name: 'command-policy' })}/${encodeURIComponent(id)}`}>{words.policy}</a>
        </p>
      )}
    </Drawer>
  )
}
