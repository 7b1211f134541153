import { existsSync } from 'node:fs'
import { join } from 'node:path'

export interface FindingSentences {
  readonly detail: string
  /** What to do. */
  readonly remedy: string
  /** The path in a checkout of the document that the remedy names as `{document}`. */
  readonly document?: string
}

/** Where the package installs the documents, with the paths that they have in a checkout. */
const INSTALLED_DOCUMENTS = '/usr/share/doc/backend-platform'

/** The path of a document for people: absolute where the package is installed. */
export function documentPath(path: string, directory = INSTALLED_DOCUMENTS): string {
  const installed = join(directory, path)
  return existsSync(installed) ? installed : path
}

const TOKEN_REMEDY =
  'on the primary, run: platform token issue USER --purpose mirror --ttl 30d, for any enabled user'
const PRIMARY_REMEDY = 'start the primary, or change gateway.mirror_from; until then the copy is used'
const CLOCK_REMEDY = 'synchronize the clocks of all hosts (NTP)'
const CHECK_CLOCK = {
  remedy:
    'look at the clock (timedatectl) and set it if it is behind; if it is right, see "The clock was ahead" in {document}, and make another one now',
  document: 'docs/guide/operating.md',
}
const REPEAT_NIGHT = {
  remedy: 'see {part} in {document}, then run: platform backup run --no-reboot',
  document: 'docs/guide/nightly.md',
}
const CERTIFICATE_REMEDY = 'GET /certificates shows them; replace them'
const REGISTERED = '{registered} registered, {expiring} end soon, {expired} have ended'
const ADDRESS_REMEDY =
  'set gateway.api_url to the address of the api (api.listen of its configuration), and restart the gateway'
const WORKER_REMEDY =
  'start a worker (platform serve, or platform serve --module worker); if one runs, its log has the cause, and one that hangs needs a restart'
const RECEIVER_REMEDY =
  'mend what the error names: its address, secret, sender or server; after a change of the configuration restart; then run: platform alerts test {receiver}'
const PROGRAM_REMEDY =
  'install the program, make it executable for that user (chmod), or correct the setting and restart the worker'
const ONE_EACH =
  'if they are two installations, give one of them a database of its own (data_dir, or database.url)'
const ROOM_REMEDY = 'make room; what can be removed, or what is large: {commands}'
const BUS_DETAIL = '{reason}; events wait'
const COPY_DETAIL = 'was current {seconds} s ago, at {at}'

/**
 * What the doctor warns of, by its code. `{name}` stands for a value. Codes and names of values are stable
 * (docs/specification.md, Health); sentences are for people and may change.
 */
export const FINDINGS = {
  check_failed: { detail: '{reason}', remedy: 'see {document}', document: 'docs/guide/operating.md' },

  configuration_invalid: {
    detail: '{reason}',
    remedy: 'correct it: {document}; after a downgrade remove what only the newer release knows',
    document: 'docs/reference/configuration.md',
  },
  configuration_empty: {
    detail: 'is empty, so every setting has its default',
    remedy: 'put your copy back; without settings remove the file, or write a comment into it',
  },
  configuration_writable: {
    detail: 'mode {mode}: every user can change it, and what the platform runs',
    remedy: 'run: {command}',
  },
  configuration_readable: { detail: 'mode {mode}: every user can read {settings}', remedy: 'run: {command}' },
  secrets_unusable: {
    detail: '{setting}: {reason}',
    remedy: 'it has to be {expected}; the platform does not start without it',
  },
  environment_not_loaded: {
    detail: 'the units load it, this command does not: settings in it are not examined',
    remedy: 'run as root: {command}',
  },
  variable_unknown: {
    detail: '{name} is the variable of no setting{suggestion}',
    remedy: 'correct its name',
  },

  service_failed: {
    detail: 'has failed ({result}, status {status})',
    remedy: 'its last lines have the reason: journalctl -u {unit} -n 20; then run: systemctl start {unit}',
  },
  service_restarts: {
    detail: 'ends soon after each start ({result}, status {status}), and is started again',
    remedy: 'its last lines have the reason: journalctl -u {unit} -n 20',
  },
  service_stopped: { detail: 'is enabled, and does not run', remedy: 'run: systemctl start {unit}' },
  service_unstable: {
    detail: 'has ended by itself, and was started again, {count} times',
    remedy:
      "look why: journalctl -u {unit} -g 'Main process exited|oom|watchdog'; systemctl restart {unit} begins to count anew",
  },
  service_read_only: {
    detail: 'its unit does not let it write to {path} (ProtectSystem=strict)',
    remedy: 'run as root: {command}',
  },
  service_user_missing: {
    detail: 'runs as the user {user}, whom this host does not have',
    remedy:
      'create the user (adduser --system --group --home /var/lib/platform --no-create-home {user}, as the package does), then run the doctor again: it names the files that belong to the number of the former one',
  },

  data_dir_broken: { detail: '{reason}', remedy: '{remedy}' },
  data_dir_no_directory: { detail: 'is not a directory', remedy: 'move it away, or change data_dir' },
  data_dir_of_root: { detail: 'belongs to the user {owner}', remedy: 'run as root: {command}' },
  data_dir_of_other: {
    detail: 'belongs to the user {owner}',
    remedy: 'run this command as that user: {command}',
  },
  data_dir_open: { detail: 'mode {mode}: every user can look into it', remedy: 'run: {command}' },
  data_dir_copied: {
    detail: 'belongs to root, as a copy that root has made, and {above} to the user {owner}',
    remedy: 'if the platform runs as the user {owner}, run as root: {command}',
  },
  files_of_other: {
    detail: 'belongs to the user {owner}, and {count} in it to the user {user}: {files}',
    remedy: 'run as root: {command}',
  },
  files_unreadable: { detail: 'its owner cannot read {count} in it: {files}', remedy: 'run: {command}' },
  files_writable: { detail: 'every user can write to {count} in it: {files}', remedy: 'run: {command}' },
  key_readable: { detail: 'mode {mode}: the key is for its owner alone', remedy: 'run: {command}' },
  key_refused: { detail: 'is refused: {reason}', remedy: 'expected {expected}' },
  key_lost: { detail: '{reason}', remedy: '{remedy}' },
  key_changed: {
    detail: 'is another key than that of the last start, whose tokens the next start refuses',
    remedy:
      'if it is the right one, restart the platform, which uses it from then on; else put your copy back',
  },
  key_replaced: {
    detail: 'has replaced another key: every token of that one is refused',
    remedy:
      'put your copy of the former key back and restart, or issue the tokens of programs anew; this finding ends at {until}',
  },
  audit_key_lost: {
    detail: 'does not have the key {keys}: what it has sealed of the audit trail cannot be verified',
    remedy:
      'append the lines of your copy, or of the host whose worker has sealed it; a key without a copy is lost for good',
  },
  seal_missing: {
    detail:
      'has the seal {seal}, which the audit trail does not contain: rows were removed at its end, or the database was replaced',
    remedy: 'find out by whom (platform audit verify), then run: platform audit accept {seal}',
  },

  access_denied: {
    detail: 'belongs to {uid}:{gid}, mode {mode}: the user {user} of the service cannot use it',
    remedy: 'run: {command}',
  },
  access_denied_above: {
    detail: 'belongs to {uid}:{gid}, mode {mode}: the user {user} of the service cannot use it',
    remedy: 'run: {command}, or move what is in it',
  },

  port_in_use: {
    detail: 'another program uses this port, or a platform that does not answer (EADDRINUSE)',
    remedy:
      'look which it is (ss -ltnp); end another program; restart a platform, and raise its limit of open files if that is below 1,024 (prlimit --nofile), or change {setting}',
  },
  port_unusable: { detail: '{reason} ({error})', remedy: '{remedy}, or change {setting}' },
  platform_failing: {
    detail: 'a platform answers: {version}, {modules}, failing: it cannot use its database',
    remedy:
      'see the finding of the database; if that is ok, the process runs as another user, or with another file or password: restart it',
  },
  platform_outdated: {
    detail:
      'a platform answers: {version}, {modules}, {status}; its configuration file was changed after its start',
    remedy: 'restart it: a configuration is read at the start',
  },

  tls_missing: {
    detail: 'passwords and tokens cross the network without TLS',
    remedy:
      'set {module}.tls.cert_file and {module}.tls.key_file, or listen on a loopback address behind a proxy',
  },
  tls_ends: {
    detail: 'its certificate ends at {at}',
    remedy: 'replace {file} ({module}.tls.cert_file) and its key; they are read again by themselves',
  },
  tls_unusable: {
    detail: '{reason}',
    remedy:
      'put the certificate into {cert} ({module}.tls.cert_file) and its key into {key} ({module}.tls.key_file); a platform that runs reads them again by itself. These print the same line twice if they belong together: {command}',
  },

  clock_before_migration: {
    detail: '{now} is before the last migration, {migratedAt}',
    remedy: 'set the clock (timedatectl set-ntp true, or date --set=…); then restart the platform',
  },
  clock_ahead: { detail: '{differenceMs} ms ahead of this host', remedy: CLOCK_REMEDY },
  clock_behind: { detail: '{differenceMs} ms behind this host', remedy: CLOCK_REMEDY },

  disk_full: {
    detail: '{freeMib} of {allMib} MiB are free: writes fail when the disk is full',
    remedy: ROOM_REMEDY,
  },
  disk_low: { detail: '{freeMib} of {allMib} MiB are free', remedy: ROOM_REMEDY },
  disk_too_small: {
    detail: '{freeMib} of {allMib} MiB are free; a data backup needs {neededMib}',
    remedy: ROOM_REMEDY,
  },
  log_disk_low: {
    detail: '{freeMib} of {allMib} MiB are free: lines of the log are lost when the disk is full',
    remedy: ROOM_REMEDY,
  },
  log_deleted: {
    detail:
      'was removed, and process {process} still writes to it: nobody sees these lines, and they take space',
    remedy: 'restart that process',
  },
  inodes_low: {
    detail: '{free} of {all} inodes are free',
    remedy: 'remove files that nobody needs; this shows where most of them are: {command}',
  },
  disk_of_network: {
    detail: 'is on {fileSystem}',
    remedy: 'move data_dir to a local disk: SQLite needs one',
  },

  server_unreachable: {
    detail: 'unreachable: {reason}',
    remedy: '{remedy}; or remove it from the list of database.url',
  },
  server_former_primary: {
    detail: 'takes changes, but another server was promoted after it',
    remedy: 'stop this server',
  },
  file_left: {
    detail: 'has data that the database of PostgreSQL does not have, and is not used',
    remedy: '{remedy}',
  },
  lock_held: {
    detail: 'process {process} ({name}) has held it for 2 s, and changes are answered 503 meanwhile',
    remedy: 'look what it does (ps {process}); if it is no migration, end it: kill {process}',
  },
  database_elsewhere: {
    detail:
      'is not there, or is empty, and a platform answers at {listener}: it has lost this database, or has another one',
    remedy:
      'if {path} was moved, or its disk is not mounted (findmnt), put it back and restart the platform; if the service has other settings, run this command with them (--config, DATA_DIR, DATABASE_URL)',
  },
  database_gone: { detail: 'is gone, or empty, but not {remains}', remedy: '{remedy}' },
  database_absent: {
    detail: 'does not exist, or is empty, but jwt-secret is there',
    remedy: 'if there was one: {remedy}',
  },
  database_newer: {
    detail: '{reason}',
    remedy: 'install that release, or restore the backup from before the upgrade',
  },
  database_unusable: { detail: '{reason}', remedy: '{remedy}' },
  database_damaged: { detail: '{reason}', remedy: 'stop the platform, then run: {command}' },
  rows_lost: {
    detail: 'rows of it were deleted by another program than the platform: {count} of {table} refer to them',
    remedy:
      'if they are needed, stop the platform, then run: {command}; see "When rows were deleted by another program" in {document}',
    document: 'docs/guide/data-backups.md',
  },
  database_read_only: { detail: 'is on: this server takes no changes', remedy: '{remedy}' },
  schema_pending: {
    detail: '{newest}; pending: {pending}',
    remedy: 'restart, or run: platform db migrate, which says why if a step fails',
  },
  schema_newer: { detail: 'a newer release has added {steps}', remedy: 'upgrade this program' },
  database_setting: {
    detail: 'is {value}',
    remedy: 'change it: acknowledged changes can be lost, or text damaged',
  },

  releases_differ: {
    detail: 'the processes have several: {versions}',
    remedy: 'restart those of the older release, with the program of the newer one',
  },
  buses_differ: {
    detail: 'the processes have several: {buses}; each event goes to one of them',
    remedy: `${ONE_EACH}; if it is one, give all the same bus.server; if these addresses lead to the same servers, nothing`,
  },
  bus_of_others: {
    detail: 'the processes have {bus}, and this configuration has {own}',
    remedy:
      'restart the processes if bus.server was changed, or run the doctor with their configuration (--config)',
  },
  process_of_other_database: {
    detail:
      'none runs, and the platform at {listener} serves another database: commands with this configuration do not reach it',
    remedy:
      "look where it has its settings from (systemctl cat 'platform*' shows Environment and EnvironmentFile): run this command and others with the same DATA_DIR or DATABASE_URL and --config; or correct them and restart it",
  },
  data_dirs_differ: {
    detail: 'the processes on {host} have several: {directories}',
    remedy: `${ONE_EACH}; if it is one, give all the same data_dir: keys, certificates and backups are in it`,
  },
  engine_near_end: {
    detail: '{load}: SQLite is near its limit on this server',
    remedy: 'see {document}; platform db copy moves the data to PostgreSQL',
    document: 'docs/guide/operating.md',
  },
  worker_missing: {
    detail: 'no process that serves this database is a worker',
    remedy: WORKER_REMEDY,
  },
  orders_overdue: {
    detail: 'one is pending {minutes} min after its end: no worker expires it',
    remedy: WORKER_REMEDY,
  },
  payments_failing: {
    detail: 'the provider has opened none of the last 5 payments',
    remedy:
      'compare the keys in its secrets_file with those of the provider; the log has the answers of the provider',
  },

  bus_unreachable: { detail: BUS_DETAIL, remedy: 'start it, or change bus.server' },
  bus_stopped: { detail: BUS_DETAIL, remedy: 'start it ({command}), or change bus.server' },
  bus_certificate_refused: {
    detail: BUS_DETAIL,
    remedy:
      'renew the certificate of the bus; if your own authority has signed it, set NODE_EXTRA_CA_CERTS to the file of the authority',
  },
  bus_login_refused: { detail: BUS_DETAIL, remedy: 'correct the login in bus.server' },
  bus_is_other_program: {
    detail: BUS_DETAIL,
    remedy:
      'look what listens there (ss -ltnp on that host): restart NATS if it hangs; if it is another program, correct the port in bus.server',
  },
  bus_unanswered: {
    detail: BUS_DETAIL,
    remedy: 'look at the network and the firewall between this host and the bus, or correct bus.server',
  },
  bus_host_unknown: {
    detail: BUS_DETAIL,
    remedy: 'correct the host name in bus.server, or the name service of this host',
  },
  bus_lost: {
    detail: 'the stream was made anew at {at}, and has lost what it had confirmed before',
    remedy: 'look whether its store_dir lasts, then run: {command}',
  },
  bus_unstored: {
    detail: 'the bus had no JetStream, and has not stored what was delivered from {since} to {until}',
    remedy: 'run: {command}',
  },
  bus_payload_small: {
    detail: '{bytes} bytes',
    remedy: 'set it to {needed} or more: larger messages become dead',
  },
  jetstream_off: {
    detail: 'is off',
    remedy:
      'enable it (a jetstream block in its configuration, or -js), because a message that nobody reads is lost; if it was on before, then run: platform messages replay --since TIME, with the time of "the bus has no JetStream" in the log',
  },
  jetstream_off_since: {
    detail: 'is off since {since}: the bus stores nothing of what it confirms',
    remedy:
      'enable it (a jetstream block in its configuration, or -js), because a message that nobody reads is lost; then run: {command}',
  },
  stream_full: {
    detail: '{used} of {limit} bytes stored',
    remedy: 'raise the limit: then messages wait',
  },
  stream_silent: {
    detail: 'does not acknowledge messages (no_ack or sealed)',
    remedy: 'change or delete it',
  },
  messages_wait: {
    detail: '{subject} waits since {since}: {reason}',
    remedy:
      'remove the cause: a full JetStream needs a larger max_file_store, disk or max_bytes of the stream. What waits is sent by itself',
  },
  messages_unsent: {
    detail: '{subject} waits since {since}: no process has sent it',
    remedy: 'start an api or a worker; it sends what waits',
  },
  messages_dead: {
    detail: '{count} refused for good',
    remedy:
      'GET /messages?status=dead has the reasons (last_error); remove the cause, then POST /messages/{id}/redrive, or run the command messages.redrive-dead',
  },

  certificates_ended: { detail: REGISTERED, remedy: CERTIFICATE_REMEDY },
  certificates_end_soon: { detail: REGISTERED, remedy: CERTIFICATE_REMEDY },
  certificate_files_lost: {
    detail: 'does not have the files of {count} registered: {names}',
    remedy:
      'put the directory back from your copy or the nightly backup (platform backup restore --latest --into DIRECTORY), or register the certificates again',
  },

  receiver_outdated: {
    detail: 'process {process} on {host} has another address or secret for it',
    remedy: 'restart it: it goes on with the one that it has read at its start',
  },
  receiver_failing: {
    detail: 'has failed since {since}: {reason}; last sent at {sentAt}; messages that wait: {pending}',
    remedy: RECEIVER_REMEDY,
  },
  receiver_never_reached: {
    detail: 'has failed since {since}: {reason}; nothing was sent yet; messages that wait: {pending}',
    remedy: RECEIVER_REMEDY,
  },
  all_silenced: {
    detail: 'by {by} until {until}: no alert is sent ({reason})',
    remedy: 'if this is not meant, end it: DELETE /alerts/silences/{silence}, or "Silences" in the console',
  },
  alert_open: { detail: 'since {since}: {text}', remedy: '{remedy}' },
  program_missing: { detail: '{program} does not exist', remedy: PROGRAM_REMEDY },
  program_not_in_path: { detail: '{program} is in no directory of PATH ({path})', remedy: PROGRAM_REMEDY },
  program_not_executable: {
    detail: 'the user of the service cannot execute {program}',
    remedy: PROGRAM_REMEDY,
  },
  webhook_failing: {
    detail:
      '{host} has failed since {since}; events that wait: {pending}; it is disabled after 5 days of failures',
    remedy:
      'repair the endpoint: GET /webhooks/{webhook}/deliveries has its answers; see "When a receiver fails" in {document}',
    document: 'docs/guide/webhooks.md',
  },
  execution_waits: {
    detail: 'is queued since {since}',
    remedy:
      'start a worker that has this command in its configuration; if one runs, max_concurrent others of this command run',
  },
  execution_late: {
    detail: 'runs on {host} since {since}; its timeout is {minutes} min, which is over',
    remedy:
      'cancel it (POST /commands/executions/{execution}/cancel); if it stays, restart the worker on that host, and see "When something goes wrong" in {document}',
    document: 'docs/guide/commands.md',
  },
  admin_missing: {
    detail: 'no user with the role admin is enabled',
    remedy: 'run: platform user enable NAME, or platform user add NAME --role admin',
  },
  provider_unreachable: {
    detail: 'does not answer: {reason}',
    remedy: 'start it, or mend its address or the name service of this host; until then only passwords work',
  },
  provider_unusable: {
    detail: '{reason}',
    remedy: 'compare auth.oidc.issuer with what the provider names itself',
  },

  api_unreachable: {
    detail: 'does not answer: {reason}',
    remedy: 'start the api, or change gateway.api_url',
  },
  api_is_other_program: {
    detail: "something other than the platform's api answers there ({said})",
    remedy: ADDRESS_REMEDY,
  },
  api_other_protocol: {
    detail: 'does not speak this protocol: {reason}',
    remedy: `if it is the api, gateway.api_url begins with https:// where the api has a certificate (api.tls.cert_file), else with http://; if not, ${ADDRESS_REMEDY}`,
  },
  api_answer: {
    detail: 'answered with {status}: {message}',
    remedy: 'run the doctor where the api runs: it names the cause',
  },
  api_is_gateway: { detail: 'is a gateway, not the api', remedy: ADDRESS_REMEDY },
  gateway_unknown: {
    detail: 'does not recognise this gateway, so it refuses every request of a session',
    remedy: 'give both the same auth.jwt_secret, and set their clocks',
  },
  mirror_token_unusable: { detail: '{reason}', remedy: TOKEN_REMEDY },
  primary_refused: { detail: '{reason}', remedy: TOKEN_REMEDY },
  primary_unreachable: { detail: '{reason}', remedy: PRIMARY_REMEDY },
  primary_unusable: { detail: '{reason}', remedy: 'install the same release on both servers' },
  pools_overlap: {
    detail: 'overlaps {pool} of the primary',
    remedy: 'give each server a pool of its own',
  },
  copy_too_old: { detail: `${COPY_DETAIL}: no new session is accepted`, remedy: PRIMARY_REMEDY },
  copy_old: {
    detail: COPY_DETAIL,
    remedy: 'start the platform on this server, and see the finding of the primary',
  },

  night_never: { detail: 'no night has succeeded yet', ...REPEAT_NIGHT },
  night_never_failed: { detail: 'no night has succeeded yet; then {error}: {reason}', ...REPEAT_NIGHT },
  night_late: { detail: 'the last success was at {at}', ...REPEAT_NIGHT },
  night_failed: { detail: 'the last success was at {at}; then {error}: {reason}', ...REPEAT_NIGHT },
  drill_failed: {
    detail: 'has failed at {at}, for the backup {backup}',
    remedy: 'do what {report} says, then run: platform backup restore --latest',
  },
  night_in_future: {
    detail: 'the last success was at {at}, which is later than now: the clock was ahead, or is behind',
    ...CHECK_CLOCK,
  },
  night_state_lost: {
    detail: 'is gone with the state of the routine and the alerts that waited in it; its units are installed',
    remedy: 'run as root: platform backup install, then platform backup run --no-reboot',
  },
  night_timer_elsewhere: {
    detail: 'elapses at {calendar}, and by the configuration at {expected}',
    remedy: '{remedy}',
  },
  night_refused: { detail: '{reason}, so it gets no alerts of the night', remedy: '{remedy}' },
  night_unheard: { detail: '{reason}', remedy: '{remedy}' },
  drive_shared: {
    detail: 'has backups of other servers: {servers}',
    remedy: 'give each server a root_dir of its own in its token file',
  },
  drive_file_missing: {
    detail: 'does not exist',
    remedy: 'see "Setting it up" in {document}',
    document: 'docs/guide/nightly.md',
  },
  drive_file_open: { detail: 'mode {mode}: the routine refuses it', remedy: 'run: {command}' },
  drive_file_unusable: {
    detail: '{reason}',
    remedy: 'put your copy back, or make it anew: "Authorising the drive" in {document}',
    document: 'docs/guide/nightly.md',
  },
  backup_never: {
    detail: 'was never made',
    remedy: 'run: platform data backup, and set data.backup_every; a worker makes them',
  },
  backup_late: {
    detail: 'was last made at {at}',
    remedy: 'run: platform data backup, and set data.backup_every; a worker makes them',
  },
  backup_in_future: {
    detail: 'was last made at {at}, which is later than now: the clock was ahead, or is behind',
    ...CHECK_CLOCK,
  },
  backup_file_lost: {
    detail: 'was last made at {at}, and is not in {directory}: {reason}',
    remedy: 'if another host has it, nothing; else run: platform data backup',
  },
} as const satisfies Readonly<Record<string, FindingSentences>>

export type FindingCode = keyof typeof FINDINGS
