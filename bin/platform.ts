import { Argument, Command, CommanderError, Option } from 'commander'
import type { BackupCommands } from '../src/app/commands/backup.ts'
import type { CommandContext } from '../src/app/commands/context.ts'
import { journalError } from '../src/app/commands/service-manager.ts'
import { isJournal } from '../src/config/journal.ts'
import type { Shell } from '../src/app/commands/shell/index.ts'
import { versionText } from '../src/app/version.ts'
import { ConfigError } from '../src/config/config-error.ts'
import { processEnvironment } from '../src/config/env.ts'
import { AppError } from '../src/kernel/errors.ts'
import { ROLES, TOKEN_PURPOSES } from '../src/kernel/identity.ts'
import { ValueError } from '../programs/mock-server/value-error.ts'
import { missingPackage } from './missing-package.ts'

// docs/reference/commands.md
const DONE = 0
const FAILED = 1
const WRONG_USAGE = 2

const STDERR = 2

// `ticket-notify` has exit codes of its own.
let exitCode = DONE

const context: CommandContext = {
  env: processEnvironment(),
  cwd: process.cwd(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
}

// Each command loads its own modules only: most commands need no server.
const alertCommands = () => import('../src/app/commands/alerts.ts')
const auditCommands = () => import('../src/app/commands/audit.ts')
const databaseCommands = () => import('../src/app/commands/db.ts')
const dataCommands = () => import('../src/app/commands/data.ts')
const backupCommands = () => import('../src/app/commands/backup.ts')
const userCommands = () => import('../src/app/commands/user.ts')
const shellCommands = () => import('../src/app/commands/shell/index.ts')

const CONFIG = new Option(
  '--config <file>',
  'configuration file (default: ./platform.toml, else /etc/platform/platform.toml)',
)
const WITHOUT_CONFIG = [
  'connect',
  'mock-oidc',
  'mock-drive',
  'mock-pay',
  'ticket-notify',
  'completion',
  'manual',
  'version',
  'help',
]

/** A command of the program: its context, its arguments, its options. A number that it resolves with is the exit code. */
type Run = (context: CommandContext, ...args: never[]) => unknown

/** Loads a module and runs its command of that name. */
function run<Name extends string>(load: () => Promise<Readonly<Record<Name, Run>>>, name: Name) {
  return async (...args: unknown[]) => {
    const { [name]: command } = await load()
    // Behind the arguments and the options there is the declaration of the command.
    const result = await command(context, ...(args.slice(0, -1) as never[]))
    if (typeof result === 'number') exitCode = result
  }
}

function program(): Command {
  const platform = new Command('platform')
    .description(
      'Backend platform: orders, messages, alerts and users, with an HTTP API and background work.',
    )
    .version(versionText(), '--version', 'print the release and the Node.js it runs on')
    .helpCommand(false)
    .configureOutput({ outputError: (text, write) => write(usageError(text)) })
    .exitOverride()
  const group = (name: string, description: string) =>
    platform.command(name).description(description).helpCommand(false)

  platform
    .command('serve')
    .description('run the modules until a signal ends them')
    .option('--module <list>', 'api, gateway, worker, a list of them, or all')
    .action(run(() => import('../src/app/commands/serve.ts'), 'serve'))

  platform
    .command('health')
    .description('ask the platform on this host whether it takes requests; exit code 1 if it does not')
    .option('--module <list>', 'the modules of the process to ask')
    .action(run(() => import('../src/app/commands/health.ts'), 'checkHealth'))

  platform
    .command('config')
    .description('print the settings in effect, with the source of each value')
    .action(run(() => import('../src/app/commands/context.ts'), 'showConfig'))

  platform
    .command('doctor')
    .description('check configuration, files, ports, clock, disk, database and bus, and print what to do')
    .option('--json', 'print the findings as one JSON object')
    .option('--module <list>', 'check only what a process with these modules needs')
    .action(run(() => import('../src/app/commands/doctor.ts'), 'runDoctor'))

  const database = group('db', 'the database schema')
  database
    .command('migrate')
    .description('create the database, or bring its schema up to date; serve does the same')
    .option('--new', 'also create what was lost anew: an empty database, or the signing key')
    .action(run(databaseCommands, 'migrateDatabase'))
  database
    .command('status')
    .description('show which steps of the schema are applied')
    .action(run(databaseCommands, 'showDatabaseStatus'))
  database
    .command('copy')
    .description(
      'copy the configured database to another one, of either engine; repeated after a cut, it goes on',
    )
    .option('--to <address>', 'postgres://host/database, or sqlite:PATH')
    .option('--to-file <file>', 'a file with that address, which other users cannot see there')
    .option('--verify', 'only compare the rows of all tables')
    .action(run(databaseCommands, 'copyToDatabase'))

  const data = group('data', 'backups of the database')
  data
    .command('backup')
    .description('back up the database, also while the platform serves it')
    .option('--note <text>', 'text for people')
    .action(run(dataCommands, 'makeBackup'))
  data.command('list').description('show all backups').action(run(dataCommands, 'printBackups'))
  data
    .command('verify <file>')
    .description('compare a backup with its recorded SHA-256, and check its integrity')
    .action(run(dataCommands, 'verifyBackup'))
  data
    .command('restore <file>')
    .description(
      'replace the database by a backup and keep the former one; no process may serve the database',
    )
    .action(run(dataCommands, 'restoreBackup'))

  const backup = group(
    'backup',
    'the nightly routine: backup to a cloud drive, cleaning, reboot, restore drill; needs root',
  )
  const backupCommand = (name: keyof BackupCommands, description: string) =>
    backup
      .command(name)
      .description(description)
      .option('--json', 'print the outcome as one JSON object')
      .action(async (options) => {
        const { BACKUP_COMMANDS, runBackupCommand } = await backupCommands()
        exitCode = await runBackupCommand(context, BACKUP_COMMANDS[name], options)
      })
  backupCommand('run', 'back up, clean and reboot')
    .option('--scheduled', 'once per local date, inside the window: what the timer calls')
    .option('--no-reboot', 'clean, but do not reboot')
    .option('--dry-run', 'print the upload, the cleaning and the reboot instead of doing them')
  backupCommand('retry', 'repeat a failed run until it succeeds, or its window ends')
    .option('--once', 'do what is due now: what the retry timer calls')
    .option('--no-reboot', 'clean, but do not reboot')
  backup
    .command('restore')
    .argument('[id]', 'the backup, such as 20260131-020000')
    .description(
      'restore a backup into a directory of its own, and check it; the platform keeps its database',
    )
    .option('--latest', 'the newest backup on the drive')
    .option('--into <directory>', 'keep the files in this new or empty directory')
    .option('--json', 'print the report as one JSON object')
    .action(run(backupCommands, 'runRestore'))
  backupCommand('install', 'write and start the timers of the routine; check its files first')
    .option('--root <directory>', 'install into the image in this directory')
    .option('--print', 'print the units, and write nothing')
  backupCommand('uninstall', 'stop the timers and remove the units').option(
    '--root <directory>',
    'uninstall from the image in this directory',
  )
  backupCommand('selfcheck', 'check that the server works; after a reboot by the routine, report it')
  backupCommand('status', 'show the last success, the last run, the next run and the last restore drill')

  const user = group('user', 'administer users without the API')
  user
    .command('add <name>')
    .description('create a user; the password comes from a prompt or standard input')
    .addOption(new Option('--role <role...>', 'roles of the user').choices(ROLES).makeOptionMandatory())
    .action(run(userCommands, 'addUser'))
  user.command('list').description('show all users').action(run(userCommands, 'printUsers'))
  user
    .command('passwd <name>')
    .description('set a password, from a prompt or standard input; revokes the tokens of the user')
    .action(run(userCommands, 'changePassword'))
  user
    .command('disable <name>')
    .description('disable a user, and revoke the tokens of the user')
    .action(async (name, options) => (await userCommands()).setUserEnabled(context, name, false, options))
  user
    .command('enable <name>')
    .description('enable a disabled user')
    .action(async (name, options) => (await userCommands()).setUserEnabled(context, name, true, options))
  user
    .command('role <name>')
    .addArgument(new Argument('<role...>', 'all roles that the user has from now on').choices(ROLES))
    .description('replace the roles of a user, and revoke the tokens of the user')
    .action(run(userCommands, 'setUserRoles'))
  user
    .command('delete <name>')
    .description('delete a user, and revoke the tokens of the user')
    .action(run(userCommands, 'removeUser'))

  const token = group('token', 'access tokens')
  token
    .command('issue <name>')
    .description('print a signed token for a user')
    .option(
      '--ttl <duration>',
      'how long it is valid, such as 30m or 8h, at most 30d (default: auth.token_ttl)',
    )
    .addOption(
      new Option(
        '--purpose <purpose>',
        'what it is good for, and nothing else: mirror, for a standby',
      ).choices(TOKEN_PURPOSES),
    )
    .action(run(userCommands, 'issueToken'))
  token
    .command('create <user>')
    .description('create an API token for a program, and print it')
    .requiredOption('--name <name>', 'what the token is for')
    .option('--ttl <duration>', 'how long it is valid, at most 366d (default: 90d)')
    .addOption(
      new Option('--role <role...>', 'roles of the user; without it all that the user has').choices(ROLES),
    )
    .action(run(userCommands, 'createApiToken'))
  token
    .command('list [user]')
    .description('list the API tokens of a user, or of all users, newest first')
    .action(run(userCommands, 'listApiTokens'))
  token
    .command('revoke <user> <id>')
    .description('revoke an API token')
    .action(run(userCommands, 'revokeApiToken'))

  const audit = group('audit', 'the audit trail: who has changed what')
  const auditFilter = (command: Command) =>
    command
      .option('--actor <id>', 'only what this user, or caller, has done: its id or its name')
      .option('--operation <name>', 'only this operation, such as updateUser or cli.user.add')
      .option('--target <kind:id>', 'only what was done to this object, such as user:0198…')
      .option('--from <time>', 'only rows of this time or later, such as 2026-01-31T02:00:00Z')
      .option('--to <time>', 'only rows before this time')
  auditFilter(audit.command('list').description('show the newest rows'))
    .option('--limit <number>', 'how many rows (default: 50)')
    .action(run(auditCommands, 'printAudit'))
  auditFilter(audit.command('export').description('print rows as JSON lines, oldest first')).action(
    run(auditCommands, 'exportAudit'),
  )
  audit
    .command('verify')
    .description('compare each row with its seal; exit code 1 names the first row that was tampered with')
    .option('--seal <seal...>', 'seals that were kept elsewhere, such as 1234:…: the trail must contain them')
    .action(run(auditCommands, 'verifyAudit'))
  audit
    .command('accept')
    .argument('<seal>', 'the seal that the trail lacks, as log and doctor name it')
    .description('accept a trail that was cut off or restored: the seal of this host follows it again')
    .action(run(auditCommands, 'acceptAudit'))
  audit
    .command('rotate')
    .description('make a new key for the seals; what the older ones have sealed stays verifiable')
    .action(run(auditCommands, 'rotateAudit'))

  const payments = group('payments', 'payments of orders')
  payments
    .command('reconcile')
    .description('compare the payments of a day with the books of their provider; exit code 1 if they differ')
    .requiredOption('--channel <name>', 'the payment channel')
    .requiredOption('--date <date>', 'a day that is over, YYYY-MM-DD')
    .option('--file <bill>', 'a bill that was downloaded, instead of asking the provider')
    .action(run(() => import('../src/app/commands/payments.ts'), 'reconcilePayments'))

  const alerts = group('alerts', 'notifications of alerts')
  alerts
    .command('test-robot')
    .description('send a test message to the configured robot, and print its answer')
    .action(run(alertCommands, 'sendToRobot'))
  alerts
    .command('test <name>')
    .description(
      'send a test message to a receiver, and print its answer; exit code 1 if it was not delivered',
    )
    .action(run(alertCommands, 'sendToReceiver'))
  alerts
    .command('route')
    .argument('<file-or-id>', 'a report as JSON, as POST /alerts/report takes it, or the id of an alert')
    .description(
      'show the routes of an alert, or of a report in a file, and whom they notify when; stores nothing',
    )
    .action(run(alertCommands, 'showRoute'))

  const messages = group('messages', 'the outbox of messages')
  messages
    .command('replay')
    .description(
      'send again what the bus has confirmed in a span of time, after it has lost messages; receivers drop duplicates by id',
    )
    .requiredOption(
      '--since <time>',
      'begin of the span, such as 2026-01-31T02:00:00Z; delivered messages are kept for messages.keep',
    )
    .option('--until <time>', 'end of the span (default: now)')
    .action(run(() => import('../src/app/commands/messages.ts'), 'replayMessages'))

  const vpn = group('vpn', 'sessions with the VPN gateways')
  vpn
    .command('connect')
    .description(
      'hold a session with the first gateway that answers, until a signal ends it; prints each change of state',
    )
    .requiredOption(
      '--gateway <url...>',
      'a gateway, such as http://127.0.0.1:9994; several in order of preference',
    )
    .requiredOption('--token-file <file>', 'file with the access token; it is read again when it changes')
    .option('--device <id>', 'name of this device, which gets the same address again')
    .option('--no-failback', 'stay with the current gateway when the first one is back')
    .option('--json', 'print JSON lines')
    .action(run(() => import('../src/app/commands/vpn.ts'), 'connectVpn'))

  platform
    .command('mock-oidc')
    .description(
      'run a mock OAuth 2.0 / OIDC provider on this host; configured by environment variables only',
    )
    .action(async () => (await import('../programs/mock-oidc/index.ts')).runMockOidc(context))

  platform
    .command('mock-drive')
    .description(
      'run a mock of the cloud drive for backups on this host; configured by environment variables only',
    )
    .action(async () => (await import('../programs/mock-drive/index.ts')).runMockDrive(context))

  platform
    .command('mock-pay')
    .description(
      'run a mock of Stripe, WeChat Pay and Alipay on this host; configured by environment variables only',
    )
    .action(async () => (await import('../programs/mock-pay/index.ts')).runMockPay(context))

  platform
    .command('ticket-notify [arguments...]')
    .description(
      'send notifications of new and changed tickets by mail and robot; --help shows its arguments',
    )
    // The program reads its own arguments, as it does where it is installed alone.
    .allowUnknownOption()
    .helpOption(false)
    .action(async (args: readonly string[]) => {
      const { runTicketNotify } = await import('../programs/ticket-notify/index.ts')
      exitCode = await runTicketNotify(args, context)
    })

  platform
    .command('completion')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .description('print the completions of the commands for a shell')
    .action(async (shell: Shell) => (await shellCommands()).printCompletion(context, platform, shell))

  platform
    .command('manual')
    .description('print the manual page, for man -l -')
    .action(async () => (await shellCommands()).printManual(context, platform))

  platform
    .command('version')
    .description('print the versions of the program and of Node.js')
    .action(() => void context.stdout.write(`${versionText()}\n`))

  platform
    .command('help [command...]')
    .description('show the help of a command')
    .action((names: readonly string[]) => {
      context.stdout.write(commandNamed(platform, names).helpInformation())
    })
  for (const command of commandsIn(platform))
    if (!WITHOUT_CONFIG.includes(command.name())) command.addOption(CONFIG)
  return platform
}

/** The commands in a group, and in the groups in it. */
function commandsIn(group: Command): Command[] {
  return group.commands.flatMap((command) => (command.commands.length > 0 ? commandsIn(command) : [command]))
}

/** The command at a path of names, such as `user add`. */
function commandNamed(platform: Command, names: readonly string[]): Command {
  return names.reduce((group, name) => {
    const found = group.commands.find((command) => command.name() === name)
    return found ?? group.error(`error: unknown command '${name}'`)
  }, platform)
}

/** The library's message on one line, as every other error of this program. */
function usageError(text: string): string {
  const reason = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ')
  return `platform: ${reason} (platform help lists the commands)\n`
}

/** The only place where an error becomes an exit code. A wrong use prints a sentence, a defect prints its stack. */
function exitCodeOf(error: unknown): number {
  // The library has printed its message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE
  if (error instanceof ConfigError) {
    writeError(`${error.message}\n`)
    return WRONG_USAGE
  }
  if (error instanceof ValueError) {
    writeError(`ValueError: ${error.message}\n`)
    return FAILED
  }
  if (error instanceof AppError && error.kind !== 'internal') {
    writeError(`platform: ${error.message}\n`)
    return error.kind === 'invalid' ? WRONG_USAGE : FAILED
  }
  writeError(`platform: ${failureText(error)}\n`)
  return FAILED
}

function writeError(text: string): void {
  context.stderr.write(isJournal(context.env, STDERR) ? journalError(text) : text)
}

const NO_PERMISSION = `The user ${process.geteuid?.()} has no permission: run the command as the user of the platform, or as root.`

function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const missing = missingPackage(error)
  if (missing !== undefined) return missing
  // Errors of the operating system (a full disk, a directory without permission) need no stack.
  if (!('syscall' in error)) return error.stack ?? error.message
  const isRefused = 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')
  return isRefused && process.geteuid?.() !== 0 ? `${error.message}. ${NO_PERMISSION}` : error.message
}

/** Nothing is left that could settle the command: it is not done, and would otherwise end as if it were. */
function failUnsettled(): void {
  context.stderr.write('platform: the command has ended without a result; report this defect\n')
  process.exit(FAILED)
}

async function main(): Promise<never> {
  process.once('beforeExit', failUnsettled)
  // What ps, top and ss show; it would be the name of the runtime.
  process.title = ['platform', ...process.argv.slice(2)].join(' ')
  try {
    await program().parseAsync()
    process.exitCode = exitCode
  } catch (error) {
    process.exitCode = exitCodeOf(error)
  }
  // A resource that did not close in time must not keep a finished command alive.
  process.exit()
}

// Not awaited: the release is CommonJS, which has no await outside a function.
void main()
