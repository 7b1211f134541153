import { pathToFileURL } from 'node:url'
import { formatDuration, MINUTE } from '../../../src/kernel/time.ts'
import { calendarLines, DRILL_DAYS, drillTime, retryTimes, runTimes } from './calendar.ts'
import { type InstalledProgram, type InstallSettings, backupsDirectory, logDirectory } from './settings.ts'
import { commandWord, unitText, wholeValue, type UnitSections, listWord } from './unit-text.ts'
import { dirname } from 'node:path'

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
function nightSandbox(settings: InstallSettings, program: InstalledProgram): string[] {
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
function readerSandbox(
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
function databasePlaces({ dataDir, databaseFile }: InstallSettings): string[] {
  return databaseFile === undefined ? [dataDir] : [dataDir, dirname(databaseFile)]
}

function placesRead({ secretsFile }: InstallSettings, { command, configFile }: InstalledProgram): string[] {
  return [secretsFile, ...command, ...(configFile === undefined ? [] : [configFile])]
}

/** Each path has a "-", which lets systemd start without it: about a missing directory the program says more than systemd. */
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

/** A unit as `install` writes it. */
export interface Unit {
  /** `platform-backup.timer` */
  readonly name: string
  readonly text: string
  /** The target that starts it, for a unit that is enabled. */
  readonly wantedBy: string | undefined
}

/** The secrets of the platform as variables, such as `DATABASE_URL`; the unit of the platform reads them too. */
export const ENVIRONMENT_FILE = '/etc/platform/platform.env'

type UnitParts = readonly [settings: InstallSettings, program: InstalledProgram]

const UNITS: Readonly<Record<string, (...parts: UnitParts) => UnitSections>> = {
  'platform-backup.service': (settings, program) => ({
    Unit: describeService(settings, 'Nightly backup, cleaning and reboot'),
    Service: nightService(settings, program, 'run --scheduled'),
  }),
  'platform-backup.timer': (settings) => {
    const [time, second] = runTimes(settings.window)
    return timer(settings, 'Nightly backup, once per date', [
      ...calendarOf([time], settings),
      '# For nights that have no such time because clocks are put forward. On other nights this call does nothing.',
      ...calendarOf([second], settings),
    ])
  },
  'platform-backup-retry.service': (settings, program) => ({
    Unit: describeService(settings, 'Retry of a failed nightly backup'),
    Service: nightService(settings, program, 'retry --once'),
  }),
  'platform-backup-retry.timer': (settings) =>
    timer(
      settings,
      'Retries of a failed nightly backup, and the end of its window',
      calendarOf(retryTimes(settings.window), settings),
    ),
  'platform-backup-drill.service': (settings, program) => ({
    Unit: describeService(settings, 'Restore drill of the newest nightly backup'),
    Service: [
      'Type=oneshot',
      ...start(settings, program, 'restore --latest'),
      'TimeoutStartSec=12h',
      ...BACKGROUND,
      '',
      '# It may not write to the database of the platform.',
      ...readerSandbox(settings, program),
    ],
  }),
  'platform-backup-drill.timer': (settings) =>
    timer(settings, 'Monthly restore drill', [
      '# A fixed day of the month: its heartbeat expects it every 31 days.',
      ...calendarOf([drillTime(settings.window)], settings, DRILL_DAYS),
    ]),
  'platform-backup-selfcheck.service': (settings, program) => ({
    Unit: describeService(settings, 'Self-check after the reboot of the nightly backup'),
    Service: [
      '# Not oneshot: the boot does not wait for its end.',
      'Type=exec',
      ...start(settings, program, 'selfcheck'),
      `RuntimeMaxSec=${formatDuration(settings.selfcheckForMs + 5 * MINUTE)}`,
      '',
      '# SQLite writes beside the database file even to read it.',
      ...readerSandbox(settings, program, databasePlaces(settings)),
    ],
    Install: ['WantedBy=multi-user.target'],
  }),
}

export const UNIT_NAMES = Object.keys(UNITS)

/** All units of the routine; pure, so that they can be printed without any effect. */
export function unitsFor(settings: InstallSettings, program: InstalledProgram): Unit[] {
  return Object.entries(UNITS).map(([name, sectionsFor]) => {
    const sections = sectionsFor(settings, program)
    return { name, text: unitText(name, sections), wantedBy: wantedBy(sections) }
  })
}

function wantedBy({ Install: lines = [] }: UnitSections): string | undefined {
  return lines.map((line) => /^WantedBy=(.*)$/.exec(line)?.[1]).find((target) => target !== undefined)
}

function describe({ installRoot }: InstallSettings, description: string): string[] {
  const guide = pathToFileURL(`${installRoot}/docs/guide/nightly.md`).href
  return [`Description=${description}`, `Documentation=${wholeValue(guide)}`]
}

/** The section `Unit` of a service. */
function describeService(settings: InstallSettings, description: string): string[] {
  return [
    ...describe(settings, description),
    '# The backup does not require the platform: it saves a server whose platform is down too.',
    'After=network-online.target platform.service',
    'Wants=network-online.target',
  ]
}

function nightService(settings: InstallSettings, program: InstalledProgram, command: string): string[] {
  return [
    'Type=oneshot',
    ...start(settings, program, command),
    '# It ends before the next night. A run that gets nowhere ends itself much earlier.',
    'TimeoutStartSec=20h',
    'TimeoutStopSec=60s',
    '# The program ends its own child processes.',
    'KillMode=mixed',
    ...BACKGROUND,
    '',
    '# It is root: it reads every log, cleans, and reboots.',
    ...nightSandbox(settings, program),
  ]
}

function start(settings: InstallSettings, program: InstalledProgram, command: string): string[] {
  const config = program.configFile === undefined ? [] : ['--config', program.configFile]
  const words = [...program.command, 'backup', ...command.split(' '), ...config]
  return [
    `ExecStart=${words.map(commandWord).join(' ')}`,
    `EnvironmentFile=-${ENVIRONMENT_FILE}`,
    `WorkingDirectory=${wholeValue(workingDirectory(settings, program))}`,
  ]
}

/** The directory of `install` counts only if a setting can be relative to it: it is often the home of root. */
function workingDirectory(
  settings: InstallSettings,
  { workingDirectory: current }: InstalledProgram,
): string {
  const { dataDir, databaseFile = '', installRoot, staging, tokenFile, textfile = '' } = settings
  const paths = [dataDir, databaseFile, installRoot, staging, tokenFile, textfile]
  return paths.some((path) => path.startsWith(`${current}/`)) ? current : '/'
}

// The platform goes first.
const BACKGROUND = ['Nice=10', 'CPUWeight=20', 'IOWeight=20', 'OOMScoreAdjust=500']

function timer(settings: InstallSettings, description: string, calendar: readonly string[]): UnitSections {
  return {
    Unit: describe(settings, description),
    Timer: [
      ...calendar,
      '# Of calls that were missed while the server was down, one is made up for after the boot.',
      'Persistent=true',
      'AccuracySec=1s',
    ],
    Install: ['WantedBy=timers.target'],
  }
}

function calendarOf(times: readonly number[], { timeZone }: InstallSettings, days?: string): string[] {
  return calendarLines(times, timeZone, days).map((line) => `OnCalendar=${line}`)
}
