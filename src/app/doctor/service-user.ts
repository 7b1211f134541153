import { execFile } from 'node:child_process'
import { statSync, type Stats } from 'node:fs'
import { shellWord } from '../../kernel/text.ts'
import { SECOND } from '../../kernel/time.ts'

/** The user as whom the platform runs. */
export interface ServiceUser {
  readonly uid: number
  readonly gids: readonly number[]
}

/** Resolves with the standard output of a program; undefined if it fails or does not exist. */
export type RunProgram = (name: string, args: readonly string[]) => Promise<string | undefined>

interface Places {
  /** The absolute path of the configuration file. */
  readonly configFile: string | undefined
  readonly dataDir: string
  /** The processes of this host that serve the database. */
  readonly processIds?: readonly number[]
}

// A pattern finds loaded units only.
const UNITS = ['platform.service', '*.service']
const LIMIT_MS = 5 * SECOND

/**
 * The user of the unit that serves with this configuration, or else that of a running process, or else the owner of the data directory.
 * Undefined where there is none, and where only root is left: that may be a copy which root has made.
 */
export async function readServiceUser(
  { configFile, dataDir, processIds = [] }: Places,
  run: RunProgram = runProgram,
): Promise<ServiceUser | undefined> {
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  const named = (await userOfUnit(configFile, run)) ?? userOfProcess(processIds)
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

async function userOfUnit(configFile: string | undefined, run: RunProgram): Promise<string | undefined> {
  if (configFile === undefined) return undefined
  const properties = await run('systemctl', ['show', '--property=User,ExecStart', ...UNITS])
  // The unit of another installation says nothing about this one, and those of the nightly routine are of root.
  const own = properties
    ?.split('\n\n')
    .find((unit) => unit.includes(' serve ') && unit.includes(` ${configFile} `))
  return own === undefined ? undefined : (/^User=(.+)$/m.exec(own)?.[1] ?? 'root')
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
