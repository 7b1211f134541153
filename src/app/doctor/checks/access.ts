import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { LoadedConfig } from '../../../config/config.ts'
import { fault, fine, skipped, type Check, type CheckFinding } from '../check.ts'
import { mayAccess, type ServiceUser } from '../service-user.ts'

const [READ, WRITE, ENTER] = [4, 2, 1]

/** Whether the user of the service can use the files that it needs; the doctor is often run by root, which can use all. */
export const accessCheck: Check = {
  name: 'access',
  run: async ({ loaded, serviceUser }) => {
    const user = await serviceUser()
    if (user === undefined)
      return [skipped('user of the service', 'there is neither a unit nor a data directory')]
    const faults = [
      ...configuration(user, loaded),
      ...tokenFile(user, loaded),
      ...dataDirectory(user, loaded),
    ]
    return faults.length > 0 ? faults : [fine(`user ${user.uid}`, 'can use configuration and data')]
  },
}

/** A member of the group reads it: its owner is the one who may change it. */
function configuration(user: ServiceUser, { file }: LoadedConfig): CheckFinding[] {
  if (file === undefined) return []
  const group = user.gids[0] ?? 0
  return [
    ...unreachable(user, file),
    ...lacking(user, file, READ, `chgrp ${group} ${file} && chmod u=rw,g=r,o= ${file}`),
  ]
}

/** Nobody but its owner may read it. */
function tokenFile(user: ServiceUser, { config: { gateway } }: LoadedConfig): CheckFinding[] {
  const path = gateway.mirrorTokenFile
  if (path === undefined) return []
  return [...unreachable(user, path), ...lacking(user, path, READ, `chown ${owner(user)} ${path}`)]
}

function dataDirectory(user: ServiceUser, { config: { dataDir } }: LoadedConfig): CheckFinding[] {
  const mend = `chown -R ${owner(user)} ${dataDir} && chmod u=rwx ${dataDir}`
  return [...unreachable(user, dataDir), ...lacking(user, dataDir, READ | WRITE | ENTER, mend)]
}

/** The nearest directory above the path that the user cannot enter. */
function unreachable(user: ServiceUser, path: string): CheckFinding[] {
  const above = dirname(path)
  if (above === path) return []
  const nearest = lacking(user, above, ENTER, `chmod o+x ${above}, or move what is in it`)
  return nearest.length > 0 ? nearest : unreachable(user, above)
}

function lacking(user: ServiceUser, path: string, permissions: number, mend: string): CheckFinding[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  // What is missing is named by the check of its own.
  if (!stats || mayAccess(user, stats, permissions)) return []
  const detail = `belongs to ${stats.uid}:${stats.gid}, mode ${(stats.mode & 0o777).toString(8)}: the user ${user.uid} of the service cannot use it`
  return [fault(path, detail, `run: ${mend}`)]
}

function owner({ uid, gids }: ServiceUser): string {
  return `${uid}:${gids[0] ?? uid}`
}
