import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Environment } from '../../config/env.ts'
import { SETTING_TABLE } from '../../config/schema.ts'
import { variablesOf } from '../../config/setting.ts'
import { didYouMean } from '../../config/suggestions.ts'
import { fine, warning, type CheckFinding } from './check.ts'

/** Beside the configuration; the units load it (EnvironmentFile), other commands do not. docs/guide/installing.md */
const FILE_NAME = 'platform.env'

/** Whether the settings of the units' file are in effect here, and variables in it that no setting has. */
export function examineUnitEnvironment(configuration: string, env: Environment): CheckFinding[] {
  const path = join(dirname(configuration), FILE_NAME)
  const names = variablesIn(path)
  // systemd sets this variable for every program of a unit; such a program may not read the file itself.
  if (names === 'absent' || (names === 'unreadable' && env['INVOCATION_ID'] !== undefined)) return []
  if (names === 'unreadable' || names.some((name) => env[name] === undefined))
    return [notLoaded(path, configuration), ...(names === 'unreadable' ? [] : misspelt(path, names))]
  return [fine(path, `${names.length} variables`), ...misspelt(path, names)]
}

function variablesIn(path: string): string[] | 'absent' | 'unreadable' {
  try {
    const text = readFileSync(path, 'utf8')
    return [...text.matchAll(/^\s*([A-Za-z_]\w*)\s*=/gm)].map(([, name = '']) => name)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'absent' : 'unreadable'
  }
}

function notLoaded(path: string, configuration: string): CheckFinding {
  const load = `systemd-run --pipe --wait --collect --quiet --uid=platform --property=EnvironmentFile=${path}`
  return warning(
    path,
    'the units load it, this command does not: settings in it are not examined',
    `run as root: ${load} platform doctor --config ${configuration}`,
  )
}

function misspelt(path: string, names: readonly string[]): CheckFinding[] {
  const known = Object.entries(SETTING_TABLE).flatMap(([key, setting]) =>
    variablesOf(key, setting).map(({ name }) => name),
  )
  return names
    .filter((name) => !known.includes(name))
    .map((name) => [name, didYouMean(name, known)] as const)
    .filter(([, suggestion]) => suggestion !== '')
    .map(([name, suggestion]) =>
      warning(path, `${name} is the variable of no setting${suggestion}`, 'correct its name'),
    )
}
