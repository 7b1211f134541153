import { execFile } from 'node:child_process'
import { SECOND } from '../../kernel/time.ts'

/** A unit of systemd that serves with this configuration. */
export interface ServiceUnit {
  /** `platform.service` */
  readonly name: string
  /** Its name or number; `root` where the unit names none. */
  readonly user: string
  /** `active`, `activating`, `deactivating`, `inactive` or `failed`. */
  readonly state: string
  /** `running`, `auto-restart`, … */
  readonly subState: string
  /** How it ended last: `success`, `exit-code`, `oom-kill`, `watchdog`, … */
  readonly result: string
  readonly exitStatus: string
  /** How often systemd has started it again by itself. */
  readonly restarts: number
  readonly isEnabled: boolean
  /** The directories that it may write to; undefined where the unit restricts nothing. */
  readonly writablePaths: readonly string[] | undefined
}

/** Resolves with the standard output of a program; undefined if it fails or does not exist. */
export type RunProgram = (name: string, args: readonly string[]) => Promise<string | undefined>

const PROPERTIES = [
  'Id',
  'User',
  'ExecStart',
  'ActiveState',
  'SubState',
  'Result',
  'ExecMainStatus',
  'NRestarts',
  'UnitFileState',
  'ProtectSystem',
  'StateDirectory',
  'ReadWritePaths',
]
// A pattern finds loaded units only.
const UNITS = ['platform.service', '*.service']
const LIMIT_MS = 5 * SECOND

/** The unit of another installation says nothing about this one, and those of the nightly routine are of root. */
export async function readServiceUnits(
  configFile: string | undefined,
  run: RunProgram = runProgram,
): Promise<ServiceUnit[]> {
  if (configFile === undefined) return []
  const text = (await run('systemctl', ['show', `--property=${PROPERTIES.join(',')}`, ...UNITS])) ?? ''
  const units = text
    .split('\n\n')
    .filter((unit) => unit.includes(' serve ') && unit.includes(` ${configFile} `))
    .map(parseUnit)
  // The first one is also found by the pattern.
  return [...new Map(units.map((unit) => [unit.name, unit])).values()]
}

function parseUnit(text: string): ServiceUnit {
  const values = new Map([...text.matchAll(/^(\w+)=(.+)$/gm)].map(([, key = '', value = '']) => [key, value]))
  const of = (key: string, otherwise = '') => values.get(key) ?? otherwise
  return {
    name: of('Id', 'platform.service'),
    user: of('User', 'root'),
    state: of('ActiveState'),
    subState: of('SubState'),
    result: of('Result'),
    exitStatus: of('ExecMainStatus', '0'),
    restarts: Number(of('NRestarts', '0')),
    isEnabled: of('UnitFileState') === 'enabled',
    writablePaths: of('ProtectSystem') === 'strict' ? writablePathsOf(of) : undefined,
  }
}

/** systemd.exec(5): `-` and `+` before a path are no part of it. */
function writablePathsOf(of: (key: string) => string): string[] {
  const words = (key: string) => of(key).split(' ').filter(Boolean)
  return [
    ...words('StateDirectory').map((name) => `/var/lib/${name}`),
    ...words('ReadWritePaths').map((path) => path.replace(/^[-+]+/, '')),
  ]
}

export function runProgram(name: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(name, args, { timeout: LIMIT_MS }, (error, stdout) => resolve(error ? undefined : stdout))
  })
}
