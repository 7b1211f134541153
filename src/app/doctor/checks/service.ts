import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config, LoadedConfig } from '../../../config/config.ts'
import { shellWord } from '../../../kernel/text.ts'
import { isAtOrAbove } from '../../lost-database.ts'
import { fault, fine, skipped, warning, type Check, type CheckFinding, type DoctorParts } from '../check.ts'
import type { FindingCode } from '../findings.ts'
import { mayAccess, modeText, ownerOf, type ServiceUnit, type ServiceUser } from '../service.ts'
import { ownChannels } from './host.ts'

// Once may be an accident, and systemd counts from the last start by hand.
const MOST_RESTARTS = 2

/** Whether the units of systemd that serve with this configuration run, as a user that exists, and may write their data. */
export const serviceCheck: Check = {
  name: 'service',
  async run({ loaded: { config }, units: readUnits, hasUser }) {
    const units = await readUnits()
    if (units.length === 0) return [skipped('unit of systemd', 'none serves with this configuration file')]
    const users = await Promise.all(
      units.map(async ({ name, user }) =>
        (await hasUser(user)) ? [] : [fault(name, 'service_user_missing', { user })],
      ),
    )
    return [
      ...units.flatMap((unit) => [unitState(unit), ...readOnlyData(unit, config.dataDir)]),
      ...users.flat(),
    ]
  },
}

function unitState(unit: ServiceUnit): CheckFinding {
  const { name, state, subState, result, exitStatus, restarts, isEnabled } = unit
  const values = { unit: name, result, status: exitStatus }
  if (state === 'failed') return fault(name, 'service_failed', values)
  if (subState.startsWith('auto-restart')) return fault(name, 'service_restarts', values)
  if (state === 'inactive')
    return isEnabled ? warning(name, 'service_stopped', values) : skipped(name, 'is stopped, and not enabled')
  if (restarts > MOST_RESTARTS) return warning(name, 'service_unstable', { unit: name, count: restarts })
  return fine(name, `${state} (${subState})`)
}

/** Outside of the unit the same directory can be written. */
function readOnlyData({ name, writablePaths }: ServiceUnit, dataDir: string): CheckFinding[] {
  const path = realPath(dataDir)
  if (writablePaths?.some((writable) => isAtOrAbove(realPath(writable), path)) ?? true) return []
  const directory = `/etc/systemd/system/${name}.d`
  const command = [
    `mkdir -p ${directory}`,
    String.raw`printf '[Service]\nReadWritePaths="%s"\n' ${shellWord(dataDir)} > ${directory}/data.conf`,
    'systemctl daemon-reload',
    `systemctl restart ${name}`,
  ].join(' && ')
  return [fault(name, 'service_read_only', { path: dataDir, command })]
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const [READ, WRITE, ENTER] = [4, 2, 1]

/** Whether the user of the service can use the files that it needs; the doctor is often run by root, which can use all. */
export const accessCheck: Check = {
  name: 'access',
  run: async ({ loaded, serviceUser, units }) => {
    const user = await serviceUser()
    if (user === undefined) return [await unknownUser(loaded.config, units)]
    const faults = [
      ...configurationFile(user, loaded),
      ...privateFiles(user, loaded),
      ...tlsFiles(user, loaded),
      ...dataDirectory(user, loaded),
    ]
    return faults.length > 0 ? faults : [fine(`user ${user.uid}`, 'can use configuration and data')]
  },
}

/** Data that belong to root do not name the user of the service: root may have copied them. */
async function unknownUser({ dataDir }: Config, units: DoctorParts['units']): Promise<CheckFinding> {
  if ((await units()).length > 0) return skipped('user of the service', 'does not exist: see "service"')
  const root = statSync(dataDir, { throwIfNoEntry: false })
  if (!root) return skipped('user of the service', 'there is neither a unit nor a data directory')
  const command = `chown -R USER: ${shellWord(dataDir)}`
  return skipped(
    'user of the service',
    `is not known: no unit has this configuration, no process is known, and ${dataDir} belongs to root. If root has copied it for another user, run: ${command}`,
  )
}

/** The remedy lets the group of the service read the file; only its owner may change it. */
function configurationFile(user: ServiceUser, { file }: LoadedConfig): CheckFinding[] {
  if (file === undefined) return []
  const command = `${giveTo(user, file)} && chmod u=rw,g=r,o= ${shellWord(file)}`
  return deniedAccess(user, file, READ, command)
}

/** Files that nobody but their owner may read. */
function privateFiles(user: ServiceUser, { config }: LoadedConfig): CheckFinding[] {
  const { gateway, receivers } = config
  const paths = [
    gateway.mirrorTokenFile,
    ...receivers.flatMap(({ urlFile, secretFile }) => [urlFile, secretFile]),
    ...ownChannels(config).map(({ secretsFile }) => secretsFile),
  ]
  return paths
    .filter((path) => path !== undefined)
    .flatMap((path) => deniedAccess(user, path, READ, `chown ${ownerOf(user)} ${shellWord(path)}`))
}

/** Root often renews these files, and their group may read them. */
function tlsFiles(user: ServiceUser, { config }: LoadedConfig): CheckFinding[] {
  const files = (['api', 'gateway'] as const)
    .filter((module) => config.modules.includes(module))
    .flatMap((module) => [config[module].tls.certFile, config[module].tls.keyFile])
    .filter((path) => path !== undefined)
  return [...new Set(files)].flatMap((path) =>
    deniedAccess(user, path, READ, `${giveTo(user, path)} && chmod u+r,g+r ${shellWord(path)}`),
  )
}

/** The command that gives a file to the group of the user, or to the user where no group is known. */
function giveTo({ uid, gids: [group] }: ServiceUser, path: string): string {
  return `${group === undefined ? `chown ${uid}` : `chgrp ${group}`} ${shellWord(path)}`
}

function dataDirectory(user: ServiceUser, { config: { dataDir } }: LoadedConfig): CheckFinding[] {
  const name = shellWord(dataDir)
  const command = `chown -R ${ownerOf(user)} ${name} && chmod u=rwx ${name}`
  return deniedAccess(user, dataDir, READ | WRITE | ENTER, command)
}

/** The permissions that the user does not have for a path, and the nearest directory above it that the user cannot enter. */
function deniedAccess(user: ServiceUser, path: string, permissions: number, command: string): CheckFinding[] {
  return [
    ...deniedDirectory(user, path),
    ...deniedPermissions(user, path, permissions, 'access_denied', command),
  ]
}

function deniedDirectory(user: ServiceUser, path: string): CheckFinding[] {
  const above = dirname(path)
  if (above === path) return []
  const command = `chmod o+x ${shellWord(above)}`
  const nearest = deniedPermissions(user, above, ENTER, 'access_denied_above', command)
  return nearest.length > 0 ? nearest : deniedDirectory(user, above)
}

function deniedPermissions(
  user: ServiceUser,
  path: string,
  permissions: number,
  code: FindingCode,
  command: string,
): CheckFinding[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  // Another check names a file that does not exist.
  if (!stats || mayAccess(user, stats, permissions)) return []
  const { uid, gid, mode } = stats
  const values = { uid: String(uid), gid: String(gid), mode: modeText(mode), user: String(user.uid) }
  return [fault(path, code, { ...values, command })]
}
