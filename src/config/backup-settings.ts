import { relative } from 'node:path'
import { DAY, SECOND } from '../kernel/time.ts'
import { databaseLocation, httpUrl, type DatabaseLocation } from './address-types.ts'
import {
  argumentList,
  byteCount,
  globList,
  metricsPath,
  pathList,
  recipientList,
  someOf,
  timeOfDay,
  timeZone,
  urlPrefix,
  systemTimeZone,
} from './backup-types.ts'
import { setting } from './setting.ts'
import { choice, duration, integerWithin, path, trueOrFalse } from './value-types.ts'

/** The steps, in their order. */
const CLEANING_STEPS = ['packages', 'journal', 'tmp', 'media', 'containers', 'page-cache'] as const

/** A member of `remote_keep`, whose variable may be the whole table. */
const keptCount = (member: string) => [
  { name: `BACKUP_REMOTE_KEEP_${member.toUpperCase()}` },
  { name: 'BACKUP_REMOTE_KEEP', member },
]

type ValueOf = (key: string) => unknown

/** Undefined for a database of a server. */
function databaseFileOf(valueOf: ValueOf): string | undefined {
  const location = (valueOf('backup.database') ?? valueOf('database.url')) as DatabaseLocation | undefined
  return location?.kind === 'sqlite' ? location.path : undefined
}

/** The routine removes files of its own names from the staging directory, and packs what is in the directories of logs. */
function expectOwnDirectory(staging: string, valueOf: ValueOf): string | undefined {
  const logs = valueOf('backup.logs') as readonly string[]
  const outer = logs.find((log) => isWithin(log, staging))
  if (outer !== undefined) return `a directory outside of the logs in ${outer}`
  const others = [
    valueOf('data_dir') as string,
    databaseFileOf(valueOf),
    `${String(valueOf('backup.install_root'))}/backups`,
    ...logs,
  ]
  const inner = others.find((path) => path !== undefined && isWithin(staging, path))
  return inner === undefined ? undefined : `a directory of its own, not one with ${inner}`
}

/** Whether the path is the directory, or inside of it. */
function isWithin(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith('../')
}

const backupCount = integerWithin({ minimum: 0, maximum: 10_000 })
const waitingTime = duration({ minimum: SECOND, maximum: DAY })

/** The settings of the nightly routine, the table `[backup]`. */
export const BACKUP_SETTINGS = {
  'backup.install_root': setting(path, {
    description: 'The directory of the installation, with the logs, the staging directory and the state.',
    default: '/opt/platform',
  }),
  'backup.database': setting(databaseLocation, {
    description: 'The database that is backed up.',
    documentedDefault: '`database.url`',
    secret: true,
  }),
  'backup.logs': setting(pathList, {
    description: 'The directories of logs that are packed beside the database.',
    default: ({ valueOf }): string => JSON.stringify([`${String(valueOf('backup.install_root'))}/logs`]),
    documentedDefault: '`{install_root}/logs`',
    expectedBeside: (logs, valueOf) => {
      const staging = String(valueOf('backup.staging'))
      const outer = (logs as readonly string[]).find((log) => isWithin(log, staging))
      return outer === undefined ? undefined : `directories without backup.staging, which is in ${outer}`
    },
  }),
  'backup.logs_optional': setting(pathList, {
    description: 'Those of `backup.logs` that may be missing: a night without them has not failed.',
    default: 'none',
  }),
  'backup.staging': setting(path, {
    description: 'Where a package is made: a directory of its own.',
    default: ({ valueOf }): string => `${String(valueOf('backup.install_root'))}/backups/staging`,
    documentedDefault: '`{install_root}/backups/staging`',
    expectedBeside: (staging, valueOf) => expectOwnDirectory(String(staging), valueOf),
  }),
  'backup.time_zone': setting(timeZone, {
    description: 'The time zone of the window, of the dates and of the backup ids.',
    default: ({ timeZoneVariable }): string => systemTimeZone(timeZoneVariable),
    documentedDefault: 'that of the system',
  }),
  'backup.compression': setting(choice(['zstd', 'gzip']), {
    description: 'How a package is compressed: `.tar.zst` or `.tar.gz`.',
    default: 'zstd',
  }),
  'backup.encryption.recipients': setting(recipientList, {
    description: 'age public keys. When there are some, a package is sealed for them, and ends in `.age`.',
    default: 'none',
  }),
  'backup.encryption.identity_file': setting(path, {
    description: 'The age identities with which `restore` opens a sealed package. Mode 600, else refused.',
  }),
  'backup.drive.api_url': setting(httpUrl, {
    description: 'The address of the cloud drive. The routine needs it; the platform does not.',
  }),
  'backup.drive.api_prefix': setting(urlPrefix, {
    description: 'The path before all calls of the drive, except for that of the tokens.',
    default: '/adrive/v1.0',
  }),
  'backup.drive.token_file': setting(path, {
    description: 'The tokens of the drive, which the routine renews. Mode 600, else refused.',
    default: ({ valueOf }): string =>
      `${String(valueOf('backup.install_root'))}/certs/backend/drive-token.json`,
    documentedDefault: '`{install_root}/certs/backend/drive-token.json`',
  }),
  'backup.drive.secrets_file': setting(path, {
    description: 'A file with `DRIVE_CLIENT_ID` and `DRIVE_CLIENT_SECRET`. Mode 600, else refused.',
    default: '/etc/platform/backup.env',
  }),
  'backup.drive.part_size': setting(byteCount({ maximum: '5GiB' }), {
    description: 'Larger files are uploaded in parts of this size.',
    default: '64MiB',
  }),
  'backup.upload.bytes_per_second': setting(byteCount({ maximum: '100GiB' }), {
    description: 'A limit for the rate of the upload. Unset, there is none.',
  }),
  'backup.remote_keep.daily': setting(backupCount, {
    description: 'Of how many days the newest backup stays on the drive.',
    environment: keptCount('daily'),
    default: '7',
  }),
  'backup.remote_keep.weekly': setting(backupCount, {
    description: 'Of how many weeks the newest backup stays on the drive.',
    environment: keptCount('weekly'),
    default: '4',
  }),
  'backup.remote_keep.monthly': setting(backupCount, {
    description: 'Of how many months the newest backup stays on the drive.',
    environment: keptCount('monthly'),
    default: '12',
  }),
  'backup.platform_api': setting(httpUrl, {
    description: 'The api that receives alerts, tickets and heartbeats.',
    default: 'http://127.0.0.1:9990',
  }),
  'backup.server': setting(choice(['primary', 'standby']), {
    description: 'Which server this is: alerts have the source `platform.backup.primary` or `.standby`.',
    default: 'primary',
  }),
  'backup.window_start': setting(timeOfDay, {
    description: 'When the run begins, in local time.',
    default: '02:00', // docs/specification.md, Limits
    expectedBeside: (start, valueOf) =>
      String(start) < String(valueOf('backup.window_end')) ? undefined : 'a time before backup.window_end',
  }),
  'backup.window_end': setting(timeOfDay, {
    description:
      'When a night that still fails is lost: there are no more retries, but an alert and a ticket.',
    default: '06:00', // docs/specification.md, Limits
    expectedBeside: (end, valueOf) =>
      String(end) > String(valueOf('backup.window_start')) ? undefined : 'a time after backup.window_start',
  }),
  'backup.retry_every': setting(waitingTime, {
    description: 'How often a failed run is repeated.',
    default: '30m', // docs/specification.md, Limits
  }),
  'backup.clean': setting(someOf(CLEANING_STEPS), {
    description: 'The cleaning steps after a verified backup.',
    default: CLEANING_STEPS.join(','),
    documentedDefault: 'all of them',
  }),
  'backup.tmp_dir': setting(path, {
    description: 'What the step `tmp` cleans of files older than 7 days.',
    default: '/tmp',
  }),
  'backup.media_globs': setting(globList, {
    description: 'The intermediate files of transcoding that the step `media` removes.',
    default: 'none',
  }),
  'backup.reboot': setting(trueOrFalse, {
    description: 'Reboot the server after the cleaning, if no gate holds it back.',
    default: 'true',
  }),
  'backup.reboot_command': setting(argumentList, {
    description: 'The program that reboots the server, and its arguments; no shell sees them.',
    default: 'systemctl,reboot',
    documentedDefault: '`["systemctl", "reboot"]`',
  }),
  'backup.standby.gateway_url': setting(httpUrl, {
    description: 'The gateway that must accept a login before this server reboots.',
    needs: 'backup.standby.token_file',
  }),
  'backup.standby.token_file': setting(path, {
    description: 'A file with the access token for that login.',
    needs: 'backup.standby.gateway_url',
  }),
  'backup.selfcheck_for': setting(waitingTime, {
    description: 'How long the self-check after a reboot tries before it has failed.',
    default: '10m',
  }),
  'backup.textfile': setting(metricsPath, {
    description: 'A `.prom` file for the textfile collector of node_exporter. Unset, none is written.',
  }),
  'backup.dry_run': setting(trueOrFalse, {
    description: 'Print uploads, cleaning and reboot instead of doing them, as `run --dry-run` does.',
    default: 'false',
  }),
} as const satisfies Record<string, unknown>
