import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Environment } from '../../config/env.ts'
import { SETTING_TABLE } from '../../config/schema.ts'
import { variablesOf } from '../../config/setting.ts'
import { didYouMean } from '../../config/config-error.ts'
import { fine, skipped, warning, type CheckFinding } from './check.ts'
import { shellWord } from '../../kernel/text.ts'
import { errorCode } from '../../kernel/errors.ts'

/** Beside the configuration; the units load it (EnvironmentFile), other commands do not. docs/guide/installing.md */
const FILE_NAME = 'platform.env'

/** Whether the settings of the units' file are in effect here, and variables in it that no setting has. */
export function examineUnitEnvironment(configuration: string, env: Environment): CheckFinding[] {
  const path = join(dirname(configuration), FILE_NAME)
  const names = variablesIn(path)
  if (names === 'absent') return []
  if (names === 'unreadable') return [skipped(path, 'this user cannot read it: run the doctor as root')]
  const isLoaded = names.every((name) => env[name] !== undefined)
  const loading = isLoaded ? fine(path, `${names.length} variables are set`) : notLoaded(path, configuration)
  return [loading, ...misspelt(path, names)]
}

function variablesIn(path: string): string[] | 'absent' | 'unreadable' {
  try {
    const text = readFileSync(path, 'utf8')
    return [...text.matchAll(/^[ \t]*([A-Za-z_]\w*)[ \t]*=/gm)].map(([, name = '']) => name)
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'absent' : 'unreadable'
  }
}

function notLoaded(path: string, configuration: string): CheckFinding {
  return warning(path, 'environment_not_loaded', {
    command: `(set -a; . ${shellWord(path)}; platform doctor --config ${shellWord(configuration)})`,
  })
}

function misspelt(path: string, names: readonly string[]): CheckFinding[] {
  const known = Object.entries(SETTING_TABLE).flatMap(([key, setting]) =>
    variablesOf(key, setting).map(({ name }) => name),
  )
  return names
    .filter((name) => !known.includes(name))
    .map((name) => [name, didYouMean(name, known)] as const)
    .filter(([, suggestion]) => suggestion !== '')
    .map(([name, suggestion]) => warning(path, 'variable_unknown', { name, suggestion }))
}
