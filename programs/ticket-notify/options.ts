import { join, resolve } from 'node:path'
// A named import would fail in a Node.js without parseArgs, before the check of the version.
import util from 'node:util'
import { type Environment, variable } from './env.ts'

// docs/specification.md, Ticket notifier: not the address of `api.listen`
const DEFAULT_API = 'http://127.0.0.1:9990'
const DEFAULT_STATE_DIRECTORY = '/var/lib/platform-ticket-notify'
// The path at which the packaged platform keeps its key (docs/specification.md, Identity).
const DEFAULT_KEY_FILE = '/var/lib/platform/identity-key'
const STATE_NAME = 'ticket-notify-state.json'
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

export interface Options {
  /** Without a slash at its end. */
  readonly api: string
  readonly stateFile: string
  readonly limit: number
  readonly dryRun: boolean
  readonly seedOnly: boolean
  readonly selfTest: boolean
  readonly help: boolean
  /** The key that signs the requests; the file need not exist. */
  readonly keyFile: string
  readonly identity: { readonly name: string; readonly roles: string }
  readonly freshMs: number
  readonly maxNotify: number
  readonly keepMs: number
  readonly digest: boolean
}

/** An argument or a variable has a wrong value; the message names it and what was expected. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const USAGE = `usage: ticket-notify [options]

Reads the tickets of the platform once, and sends notifications of new tickets and of changes by mail and robot.

  --api URL      the platform's API (default: PLATFORM_API, else ${DEFAULT_API})
  --state FILE   the known tickets (default: ${STATE_NAME} in OPS_DIR, else in ${DEFAULT_STATE_DIRECTORY})
  --limit N      tickets read per round (default: 500)
  --dry-run      print what would be sent; send nothing, write nothing
  --seed-only    remember all tickets as known; send nothing
  --self-test    send one notification to each channel
  --help         show this

TICKET_NOTIFY_IDENT, TICKET_NOTIFY_ROLES          user id and roles of the requests (ticket-notify, service)
TICKET_NOTIFY_KEY_FILE                            the platform's identity-key, signs the requests (${DEFAULT_KEY_FILE})
TICKET_NOTIFY_FRESH_MINUTES                       older tickets and changes are suppressed (60)
TICKET_NOTIFY_MAX_NOTIFY                          notifications per round (20)
TICKET_NOTIFY_STATE_KEEP_DAYS                     how long a ticket without updates is remembered (30)
TICKET_NOTIFY_DIGEST=0                            no daily digest of suppressed notifications
NOTIFY_ENV_FILE                                   file with the credentials of the channels (/etc/platform/notify.env)
`

const ARGUMENTS = {
  api: { type: 'string' },
  state: { type: 'string' },
  limit: { type: 'string' },
  'dry-run': { type: 'boolean' },
  'seed-only': { type: 'boolean' },
  'self-test': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

export function parseOptions(argv: readonly string[], env: Environment): Options {
  const given = parseArguments(argv)
  if (given['self-test'] && given['seed-only']) {
    throw new UsageError('--self-test sends and --seed-only does not: use only one of them')
  }
  return {
    api: apiOf(given.api, env),
    stateFile: given.state === undefined ? defaultStateFile(env) : resolve(notEmpty('--state', given.state)),
    limit: positiveInteger('--limit: limit', given.limit ?? '500'),
    dryRun: given['dry-run'] === true,
    seedOnly: given['seed-only'] === true,
    selfTest: given['self-test'] === true,
    help: given.help === true,
    keyFile: resolve(variable(env, 'TICKET_NOTIFY_KEY_FILE') ?? DEFAULT_KEY_FILE),
    identity: {
      name: headerValue(env, 'TICKET_NOTIFY_IDENT', 'ticket-notify'),
      roles: headerValue(env, 'TICKET_NOTIFY_ROLES', 'service'),
    },
    // docs/specification.md, Limits
    freshMs: variableNumber(env, 'TICKET_NOTIFY_FRESH_MINUTES', 60) * MINUTE,
    maxNotify: variableNumber(env, 'TICKET_NOTIFY_MAX_NOTIFY', 20),
    keepMs: variableNumber(env, 'TICKET_NOTIFY_STATE_KEEP_DAYS', 30) * DAY,
    digest: variableSwitch(env, 'TICKET_NOTIFY_DIGEST', true),
  }
}

export function defaultStateFile(env: Environment): string {
  return join(resolve(variable(env, 'OPS_DIR') ?? DEFAULT_STATE_DIRECTORY), STATE_NAME)
}

function parseArguments(argv: readonly string[]) {
  try {
    return util.parseArgs({ args: joinNegativeNumbers(argv), options: ARGUMENTS }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error), {
      cause: error,
    })
  }
}

/** parseArgs would take `-1` in `--limit -1` for another option, and name the wrong reason. */
function joinNegativeNumbers(argv: readonly string[]): string[] {
  return argv.flatMap((argument, index) => {
    const next = argv[index + 1]
    if (argument === '--limit' && next?.startsWith('-')) return [`--limit=${next}`]
    return argv[index - 1] === '--limit' && argument.startsWith('-') ? [] : [argument]
  })
}

function apiOf(given: string | undefined, env: Environment): string {
  const name = given === undefined ? 'environment PLATFORM_API' : '--api'
  const text = given ?? variable(env, 'PLATFORM_API') ?? DEFAULT_API
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isBase = url && /^https?:$/.test(url.protocol) && url.username === '' && url.search + url.hash === ''
  if (!isBase) throw new UsageError(`${name}: expected an http or https address without user and query`)
  return url.href.replace(/(?<!\/)\/+$/, '')
}

function variableNumber(env: Environment, name: string, otherwise: number): number {
  return positiveInteger(`environment ${name}: it`, variable(env, name) ?? String(otherwise))
}

function variableSwitch(env: Environment, name: string, otherwise: boolean): boolean {
  const text = variable(env, name) ?? (otherwise ? '1' : '0')
  if (text === '0' || text === '1') return text === '1'
  throw new UsageError(`environment ${name}: expected 0 or 1, got ${JSON.stringify(text)}`)
}

function positiveInteger(what: string, text: string): number {
  const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0
  if (value > 0) return value
  throw new UsageError(`${what} must be a positive integer, got ${JSON.stringify(text)}`)
}

function notEmpty(name: string, text: string): string {
  if (text !== '' && !text.includes('\0')) return text
  throw new UsageError(`${name}: expected a path, got ${JSON.stringify(text)}`)
}

function headerValue(env: Environment, name: string, otherwise: string): string {
  const value = variable(env, name) ?? otherwise
  if (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value
  throw new UsageError(`environment ${name}: expected printable ASCII, got ${JSON.stringify(value)}`)
}
