import { statSync, type Stats } from 'node:fs'
import { shellWord } from '../../kernel/text.ts'
import { runProgram, type RunProgram, type ServiceUnit } from './service-unit.ts'

/** The user as whom the platform runs. */
export interface ServiceUser {
  readonly uid: number
  readonly gids: readonly number[]
}

interface Places {
  /** Those that serve with the configuration. */
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

function userOfProcess(processIds: readonly number[]): string | undefined {
  return processIds
    .map((id) => statSync(`/proc/${id}`, { throwIfNoEntry: false })?.uid.toString())
    .find((uid) => uid !== undefined)
}
