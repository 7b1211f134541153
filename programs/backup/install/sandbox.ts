import { dirname } from 'node:path'
import { backupsDirectory, logDirectory, type InstalledProgram, type InstallSettings } from './settings.ts'
import { listWord, wholeValue } from './unit-text.ts'

// systemd.exec(5), Sandboxing.
const COMMON = [
  'UMask=0077',
  'NoNewPrivileges=yes',
  'KeyringMode=private',
  'PrivateIPC=yes',
  'PrivateMounts=yes',
  'ProtectClock=yes',
  'ProtectControlGroups=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  '# AF_NETLINK: the addresses of the server are asked there.',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
  'SystemCallArchitectures=native',
  'SystemCallErrorNumber=EPERM',
  '# Not MemoryDenyWriteExecute: the JavaScript engine compiles at run time.',
]

const KEPT_OWNER = '# A replaced token file keeps its owner, group and mode.'
const FILE_CAPABILITIES = 'CAP_CHOWN CAP_DAC_OVERRIDE CAP_FOWNER'

/** A night: the run and its retries, which clean and reboot too. */
export function nightSandbox(settings: InstallSettings, program: InstalledProgram): string[] {
  const writable = [...ownPlaces(settings), ...databasePlaces(settings), settings.tmpDir]
  return [
    ...COMMON,
    '# Not "strict": cleaning removes files wherever the settings name them.',
    'ProtectSystem=full',
    ...writablePaths(writable.filter(isReadOnlyInFull)),
    ...protectHome([...writable, ...settings.mediaGlobs, ...placesRead(settings, program)]),
    '# Not PrivateTmp: the step "tmp" cleans the temporary directory of the system.',
    '# Not ProtectKernelTunables: the step "page-cache" writes to /proc/sys/vm.',
    ...(settings.clean.includes('containers') ? WITH_CONTAINERS : WITHOUT_CONTAINERS),
  ]
}

const WITH_CONTAINERS = [
  '# The step "containers": podman mounts its storage. Without that step in backup.clean, "platform backup install"',
  '# writes PrivateDevices, RestrictNamespaces, and neither CAP_SYS_ADMIN nor @mount.',
  KEPT_OWNER,
  `CapabilityBoundingSet=${FILE_CAPABILITIES} CAP_SYS_BOOT CAP_SYS_ADMIN`,
  'SystemCallFilter=@system-service @reboot @mount',
]

const WITHOUT_CONTAINERS = [
  'PrivateDevices=yes',
  'DevicePolicy=closed',
  'RestrictNamespaces=yes',
  '# CAP_SYS_BOOT, @reboot: backup.reboot_command may be one that does not ask systemd.',
  KEPT_OWNER,
  `CapabilityBoundingSet=${FILE_CAPABILITIES} CAP_SYS_BOOT`,
  'SystemCallFilter=@system-service @reboot',
]

/** The drill and the self-check, which write nothing but the files of the routine and `writable`. */
export function readerSandbox(
  settings: InstallSettings,
  program: InstalledProgram,
  writable: readonly string[] = [],
): string[] {
  const written = [...ownPlaces(settings), ...writable]
  const needed = [...written, ...databasePlaces(settings), ...placesRead(settings, program)]
  return [
    ...COMMON,
    'RestrictNamespaces=yes',
    'PrivateDevices=yes',
    'DevicePolicy=closed',
    'ProtectKernelTunables=yes',
    'ProtectProc=invisible',
    'ProtectSystem=strict',
    ...writablePaths(written),
    ...protectHome(needed),
    ...(needed.some(isTemporary) ? [] : ['PrivateTmp=yes']),
    KEPT_OWNER,
    `CapabilityBoundingSet=${FILE_CAPABILITIES}`,
    'SystemCallFilter=@system-service',
    'SystemCallFilter=~@resources',
  ]
}

/** What every command of the routine writes: state, log, staging, tokens, metrics. */
function ownPlaces(settings: InstallSettings): string[] {
  const { staging, tokenFile, textfile } = settings
  const metrics = textfile === undefined ? [] : [dirname(textfile)]
  return [backupsDirectory(settings), logDirectory(settings), staging, dirname(tokenFile), ...metrics]
}

/** SQLite writes beside its file even to read it. */
export function databasePlaces({ dataDir, databaseFile }: InstallSettings): string[] {
  return databaseFile === undefined ? [dataDir] : [dataDir, dirname(databaseFile)]
}

function placesRead({ secretsFile }: InstallSettings, { command, configFile }: InstalledProgram): string[] {
  return [secretsFile, ...command, ...(configFile === undefined ? [] : [configFile])]
}

/** With "-": about a missing directory, the program says more than systemd. */
function writablePaths(paths: readonly string[]): string[] {
  if (paths.length === 0) return []
  return [`ReadWritePaths=${[...new Set(paths)].map((path) => listWord(`-${path}`)).join(' ')}`]
}

function protectHome(paths: readonly string[]): string[] {
  const inside = paths.find((path) => HOMES.some((home) => isBelow(path, home)))
  return inside === undefined ? ['ProtectHome=yes'] : [`# Not ProtectHome: it uses ${wholeValue(inside)}`]
}

const HOMES = ['/home', '/root', '/run/user']
const READ_ONLY_IN_FULL = ['/usr', '/boot', '/efi', '/etc']
const TEMPORARY = ['/tmp', '/var/tmp']

const isReadOnlyInFull = (path: string) => READ_ONLY_IN_FULL.some((place) => isBelow(path, place))
const isTemporary = (path: string) => TEMPORARY.some((place) => isBelow(path, place))

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`)
}
