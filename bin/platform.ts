import { Command, CommanderError, Option } from 'commander'
import type { CommandContext } from '../src/app/commands/context.ts'
import { versionText } from '../src/app/commands/version.ts'
import { ConfigError } from '../src/config/config-error.ts'
import { processEnvironment } from '../src/config/env.ts'
import { AppError } from '../src/kernel/errors.ts'
import { ROLES } from '../src/kernel/identity.ts'
import { ValueError } from '../programs/mock-oidc/value-error.ts'

// contract, section 1: Exit codes
const DONE = 0
const FAILED = 1
const WRONG_USAGE = 2

// A command that ends by itself may name another one.
let exitCode = DONE

const context: CommandContext = {
  env: processEnvironment(),
  cwd: process.cwd(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
}

// A command loads what it needs and nothing else: most of them need no server.
const databaseCommands = () => import('../src/app/commands/db.ts')
const userCommands = () => import('../src/app/commands/user.ts')

const configFile = () => new Option('--config <file>', 'configuration file (default: ./platform.toml)')

function program(): Command {
  const platform = new Command('platform')
    .description(
      'Backend platform: orders, messages, alerts and users, with an HTTP API and background work.',
    )
    .version(versionText(), '--version', 'print the release and the Node.js it runs on')
    .helpCommand(false)
    .configureOutput({ outputError: (text, write) => write(usageError(text)) })
    .exitOverride()

  platform
    .command('serve')
    .description('run the modules until a signal ends them')
    .addOption(configFile())
    .option('--module <list>', 'api, gateway, worker, a list of them, or all')
    .action(async (options) => (await import('../src/app/commands/serve.ts')).serve(context, options))

  platform
    .command('config')
    .description('print the effective configuration, each value with where it came from')
    .addOption(configFile())
    .action(async (options) => (await import('../src/app/commands/config.ts')).showConfig(context, options))

  const database = platform.command('db').description('the database schema').helpCommand(false)
  database
    .command('migrate')
    .description('bring the schema up to date; serve does it by itself')
    .addOption(configFile())
    .action(async (options) => (await databaseCommands()).migrateDatabase(context, options))
  database
    .command('status')
    .description('show which steps of the schema are applied')
    .addOption(configFile())
    .action(async (options) => (await databaseCommands()).showDatabaseStatus(context, options))

  const user = platform.command('user').description('administer users without the API').helpCommand(false)
  user
    .command('add')
    .argument('<name>')
    .description('make a user; the password comes from a prompt or standard input')
    .addOption(new Option('--role <role...>', 'what the user may do').choices(ROLES).makeOptionMandatory())
    .addOption(configFile())
    .action(async (name, options) => (await userCommands()).addUser(context, name, options))
  user
    .command('list')
    .description('show all users')
    .addOption(configFile())
    .action(async (options) => (await userCommands()).listUsers(context, options))
  user
    .command('passwd')
    .argument('<name>')
    .description('set a password, from a prompt or standard input; ends the tokens of the user')
    .addOption(configFile())
    .action(async (name, options) => (await userCommands()).changePassword(context, name, options))
  user
    .command('disable')
    .argument('<name>')
    .description('lock a user out, and end the tokens of the user')
    .addOption(configFile())
    .action(async (name, options) => (await userCommands()).setUserEnabled(context, name, false, options))
  user
    .command('enable')
    .argument('<name>')
    .description('let a user in again who was disabled')
    .addOption(configFile())
    .action(async (name, options) => (await userCommands()).setUserEnabled(context, name, true, options))

  const token = platform.command('token').description('access tokens').helpCommand(false)
  token
    .command('issue')
    .argument('<name>')
    .description('print a signed token for a user')
    .option('--ttl <duration>', 'how long it is good, such as 30m or 8h (default: auth.token_ttl)')
    .addOption(configFile())
    .action(async (name, options) => (await userCommands()).issueToken(context, name, options))

  const vpn = platform.command('vpn').description('sessions with the VPN gateways').helpCommand(false)
  vpn
    .command('connect')
    .description(
      'hold a session with the first gateway that answers, until a signal ends it; prints each change of state',
    )
    .addOption(
      new Option(
        '--gateway <url...>',
        'a gateway, such as http://127.0.0.1:9994; several in order of preference',
      ).makeOptionMandatory(),
    )
    .requiredOption('--token-file <file>', 'file with the access token; a newer one is taken up')
    .option('--device <id>', 'name of this device, which gets the same address back')
    .option('--no-failback', 'stay with a gateway that works when the first one is back')
    .option('--json', 'print JSON lines')
    .action(async (options) => (await import('../src/app/commands/vpn.ts')).connectVpn(context, options))

  platform
    .command('mock-oidc')
    .description(
      'run a mock OAuth 2.0 / OIDC provider on this host; configured by environment variables only',
    )
    .action(async () => (await import('../programs/mock-oidc/index.ts')).runMockOidc(context))

  platform
    .command('ticket-notify')
    .argument('[arguments...]')
    .description('tell people by mail and robot of new and changed tickets; --help shows its arguments')
    // The program reads its own arguments, as it does where it is installed alone.
    .allowUnknownOption()
    .helpOption(false)
    .action(async (args: readonly string[]) => {
      const { runTicketNotify } = await import('../programs/ticket-notify/index.ts')
      exitCode = await runTicketNotify(args, context)
    })

  platform
    .command('version')
    .description('print the release and the Node.js it runs on')
    .action(() => void context.stdout.write(`${versionText()}\n`))

  platform
    .command('help')
    .argument('[command...]')
    .description('show what a command does')
    .action((names: readonly string[]) => {
      context.stdout.write(commandNamed(platform, names).helpInformation())
    })
  return platform
}

/** The command that a path of names leads to: `user add`. */
function commandNamed(platform: Command, names: readonly string[]): Command {
  return names.reduce((group, name) => {
    const found = group.commands.find((command) => command.name() === name)
    return found ?? group.error(`error: unknown command '${name}'`)
  }, platform)
}

/** The library's text on one line, as every other complaint of this program. */
function usageError(text: string): string {
  const reason = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ')
  return `platform: ${reason} (platform help shows what there is)\n`
}

/** The one place where an error becomes an exit code. A user's mistake gets its sentence, a fault of ours its stack. */
function exitCodeOf(error: unknown): number {
  // Its text has been printed by the library.
  if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE
  if (error instanceof ConfigError) {
    context.stderr.write(`${error.message}\n`)
    return WRONG_USAGE
  }
  if (error instanceof ValueError) {
    context.stderr.write(`ValueError: ${error.message}\n`)
    return FAILED
  }
  if (error instanceof AppError && error.kind !== 'internal') {
    context.stderr.write(`platform: ${error.message}\n`)
    return error.kind === 'invalid' ? WRONG_USAGE : FAILED
  }
  context.stderr.write(`platform: ${failureText(error)}\n`)
  return FAILED
}

function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // What the operating system refuses (a port in use, a directory that cannot be written) needs no stack.
  return 'syscall' in error ? error.message : (error.stack ?? error.message)
}

async function main(): Promise<never> {
  try {
    await program().parseAsync()
    process.exitCode = exitCode
  } catch (error) {
    process.exitCode = exitCodeOf(error)
  }
  // Nothing that is left may keep a finished command alive: everything was closed, or refused to close in time.
  process.exit()
}

// Not awaited: the release is CommonJS, which has no await outside a function.
void main()
