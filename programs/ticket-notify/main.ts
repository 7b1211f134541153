import { hostname } from 'node:os'
import { FetchError, fetchTickets, reportAlert } from './api.ts'
import { makeDirectoryOf } from './atomic-file.ts'
import type { Environment } from './env.ts'
import { type Held, type Release, takeLock } from './lock.ts'
import { createLog, type Log } from './log.ts'
import { nodeProblem } from './node-version.ts'
import { selfTestNotice } from './notices.ts'
import type { Notification, NotifyModule, NotifyResult } from './notification.ts'
import { type Options, parseOptions, USAGE, UsageError } from './options.ts'
import { type Output, outliveReader } from './output.ts'
import { runRound, SaveError, type Tally } from './round.ts'
import { createStateStore, lockFileOf, memoryFileOf, readOnlyStore, statePathProblem } from './state-store.ts'
import { stopOnSignal, type Stop } from './stop.ts'

// spec, Errors: Notifier exit codes
const DONE = 0
const FAILED = 1
const WRONG_USAGE = 2

const PRINTED = 'dry run: printed on standard output only'

/** What the program has of the world. */
export interface World {
  readonly env: Environment
  /** As in `process.versions.node`. */
  readonly nodeVersion: string
  readonly stdout: Output
  readonly stderr: Output
  now(): number
  /** Loads the neighbouring file; called only when something may be sent. */
  loadNotify(): Promise<NotifyModule>
}

type Send = (
  notification: Notification,
  options?: { readonly ignoreThrottle?: boolean },
) => Promise<NotifyResult>

/** The program, from its arguments to its exit code. Never rejects: whatever happens is a line of the log. */
export async function ticketNotify(argv: readonly string[], world: World): Promise<number> {
  for (const output of [world.stdout, world.stderr]) outliveReader(output)
  const log = createLog(world.stderr, world.now)
  try {
    return await start(argv, world, log)
  } catch (error) {
    if (error instanceof UsageError) {
      log.error(error.message)
      return WRONG_USAGE
    }
    log.error(`the round broke off: ${messageOf(error)}`, {
      stack: error instanceof Error ? error.stack : undefined,
    })
    return FAILED
  }
}

function start(argv: readonly string[], world: World, log: Log): number | Promise<number> {
  const problem = nodeProblem(world.nodeVersion)
  if (problem !== undefined) {
    log.error(problem)
    return FAILED
  }
  const options = parseOptions(argv, world.env)
  if (!options.help) return run(options, world, log)
  world.stdout.write(USAGE)
  return DONE
}

async function run(options: Options, world: World, log: Log): Promise<number> {
  const stop = stopOnSignal(log)
  try {
    const opened = await openSend(options, world, stop)
    if ('send' in opened) return await work(options, world, log, opened.send, stop)
    log.error(`the notification module cannot be loaded: ${opened.missing}`)
    return FAILED
  } finally {
    stop.release()
  }
}

async function work(options: Options, world: World, log: Log, send: Send, stop: Stop): Promise<number> {
  if (options.selfTest) return selfTest(send, world, log)
  const problem = statePathProblem(options.stateFile)
  if (problem !== undefined) {
    log.error(`the state file cannot be used: ${problem}; name a file with --state`, {
      state: options.stateFile,
    })
    return FAILED
  }
  const once = () => round(options, world, log, send, stop)
  // A dry run leaves nothing behind, not even for a moment.
  return options.dryRun ? once() : lockedRound(options, log, once)
}

/** How this run tells people: not at all, on standard output, or really. */
async function openSend(
  { dryRun, seedOnly, stateFile }: Options,
  { stdout, loadNotify }: World,
  { hurry }: Stop,
): Promise<{ readonly send: Send } | { readonly missing: string }> {
  if (dryRun || seedOnly) {
    return {
      async send(notification) {
        stdout.write(`${JSON.stringify(notification)}\n`)
        return { mail: 'sent', robot: 'sent', reasons: { mail: PRINTED, robot: PRINTED } }
      },
    }
  }
  try {
    const { notify }: Partial<NotifyModule> = await loadNotify()
    if (typeof notify !== 'function') return { missing: 'it exports no function notify' }
    const memoryFile = memoryFileOf(stateFile)
    return { send: (notification, more) => notify(notification, { memoryFile, signal: hurry, ...more }) }
  } catch (error) {
    return { missing: messageOf(error) }
  }
}

async function selfTest(send: Send, { now }: World, log: Log): Promise<number> {
  const { mail, robot, reasons } = await send(selfTestNotice(now()), { ignoreThrottle: true })
  const works = mail === 'sent'
  log[works ? 'info' : 'error'](works ? 'self-test passed' : 'self-test: mail does not work', {
    mail,
    robot,
    reasons,
  })
  return works ? DONE : FAILED
}

/** spec, rule 9 and contract, section 7: one round at a time. */
async function lockedRound({ stateFile }: Options, log: Log, once: () => Promise<number>): Promise<number> {
  const lock = lockOf(stateFile)
  if (typeof lock === 'function') {
    try {
      return await once()
    } finally {
      lock()
    }
  }
  if ('heldBy' in lock) {
    log.info('another round is under way, this one does nothing', { held_by: lock.heldBy })
    return DONE
  }
  log.error(`nothing can be written beside the state file: ${lock.problem}`, { state: stateFile })
  return FAILED
}

/** Where not even the lock can be written nothing could be remembered. */
function lockOf(stateFile: string): Release | Held | { readonly problem: string } {
  try {
    makeDirectoryOf(stateFile)
    return takeLock(lockFileOf(stateFile))
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

async function round(options: Options, world: World, log: Log, send: Send, stop: Stop): Promise<number> {
  const files = createStateStore(options.stateFile)
  const store = options.dryRun ? readOnlyStore(files) : files
  try {
    const startedAt = performance.now()
    const tally = await runRound(
      {
        log,
        store,
        now: world.now,
        monotonic: () => performance.now(),
        fetch: () => fetchTickets({ ...options, signal: stop.requested }),
        send,
        reportAlert: options.dryRun
          ? async ({ alarm_id }) => log.info('dry run: the alert is not reported', { alert: alarm_id })
          : (alert) => reportAlert(alert, { ...options, signal: stop.requested }),
        server: hostname(),
        isStopping: () => stop.requested.aborted,
      },
      options,
    )
    logDone(log, tally, performance.now() - startedAt, stop)
    return DONE
  } catch (error) {
    return failedRound(error, options, log, stop)
  } finally {
    store.close()
  }
}

function logDone(log: Log, { sendingMs, ...counts }: Tally, durationMs: number, { requested }: Stop): void {
  log.info('round done', {
    ...counts,
    duration_ms: Math.round(durationMs),
    sending_ms: Math.round(sendingMs),
    ...(requested.aborted && { interrupted: true }),
  })
}

function failedRound(error: unknown, { api, stateFile }: Options, log: Log, { requested }: Stop): number {
  if (error instanceof FetchError && requested.aborted) {
    log.info('interrupted before the tickets were read')
    return DONE
  }
  if (error instanceof FetchError) {
    log.error('platform unreachable, round skipped', { api, reason: error.message })
    return FAILED
  }
  if (error instanceof SaveError) {
    log.error('the state could not be saved, nothing more is sent', {
      state: stateFile,
      reason: error.message,
    })
    return FAILED
  }
  throw error
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
