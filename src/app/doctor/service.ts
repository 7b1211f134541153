import { execFile } from 'node:child_process'
import { statSync, type Stats } from 'node:fs'
import { shellWord } from '../../kernel/text.ts'
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

/** The user as whom the platform runs. */
export interface ServiceUser {
  readonly uid: number
  readonly gids: readonly number[]
}

interface Places {
  /** The units that serve with the configuration. */
  readonly units: readonly ServiceUnit[]
  readonly dataDir: string
  /** The processes of this host that serve the database. */
  readonly processIds?: readonly number[]
}

/**
 * The user of the unit that serves with this configuration, or else that of a running process, or else the owner of the data directory.
 * Undefined where there is none, and where only root is left: that may be a copy which root has made.
 */
export async function readServiceUser(
  { units, dataDir, processIds = [] }: Places,
  run: RunProgram = runProgram,
): Promise<ServiceUser | undefined> {
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  const named = units[0]?.user ?? userOfProcess(processIds)
  const user = named ?? (owner?.uid === 0 ? undefined : owner?.uid.toString())
  if (user === undefined) return undefined
  const [uid, groups] = [await run('id', ['-u', user]), await run('id', ['-G', user])]
  if (uid !== undefined && groups !== undefined)
    return { uid: Number(uid), gids: groups.trim().split(' ').map(Number) }
  // Without an entry in the list of users it has the group that the unit or the container gives it, as its data shows.
  return /^\d+$/.test(user) ? { uid: Number(user), gids: owner ? [owner.gid] : [] } : undefined
}

/** How `sudo -u` names the user: sudo(8) takes the number of one without a name. */
export async function sudoName(uid: number, run: RunProgram = runProgram): Promise<string> {
  return shellWord((await run('id', ['-nu', String(uid)]))?.trim() ?? `#${uid}`)
}

/** Whether the host has a user with this name or number; a number needs no entry. */
export async function hasUser(user: string, run: RunProgram = runProgram): Promise<boolean> {
  return /^\d+$/.test(user) || (await run('id', ['-u', user])) !== undefined
}

/** Whether the user has all of these permissions (4 read, 2 write, 1 execute) by mode, owner and group. */
export function mayAccess(
  { uid, gids }: ServiceUser,
  stats: Pick<Stats, 'uid' | 'gid' | 'mode'>,
  permissions: number,
): boolean {
  if (uid === 0) return true
  const shift = stats.uid === uid ? 6 : gids.includes(stats.gid) ? 3 : 0
  return ((stats.mode >> shift) & permissions) === permissions
}

export function modeText(mode: number): string {
  return (mode & 0o777).toString(8)
}

/** The user, and its group if one is known, as chown takes them. */
export function ownerOf({ uid, gids: [group] }: ServiceUser): string {
  return group === undefined ? String(uid) : `${uid}:${group}`
}

function userOfProcess(processIds: readonly number[]): string | undefined {
  return processIds
    .map((id) => statSync(`/proc/${id}`, { throwIfNoEntry: false })?.uid.toString())
    .find((uid) => uid !== undefined)
}

function runProgram(name: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(name, args, { timeout: LIMIT_MS }, (error, stdout) => resolve(error ? undefined : stdout))
  })
}
