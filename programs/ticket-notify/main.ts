import { hostname } from 'node:os'
import { isJournal } from '../../src/config/journal.ts'
import { type LockOwner, type ReleaseLock, takeProcessLock } from '../files/process-lock.ts'
import { FetchError, fetchTickets, reportAlert } from './api.ts'
import { makeDirectoryOf } from './file-writes.ts'
import type { Environment } from './env.ts'
import { messageOf } from './errors.ts'
import { requestSigner } from './identity-key.ts'
import { createLog, type Log } from './log.ts'
import { nodeProblem } from './node-version.ts'
import { selfTestNotice } from './notices.ts'
import type { Notification, NotifyModule, NotifyResult } from './notification.ts'
import { type Options, parseOptions, USAGE, UsageError } from './options.ts'
import { ignoreWriteErrors, type Output } from './output.ts'
import { type RoundCounts, type RoundDeps, runRound, SaveError } from './round.ts'
import {
  FileStateStore,
  lockFileOf,
  memoryFileOf,
  ReadOnlyStateStore,
  statePathProblem,
} from './state-store.ts'

const DONE = 0
const FAILED = 1
const WRONG_USAGE = 2

const PRINTED = 'dry run: printed on standard output only'

/** The process around the program. */
export interface Runtime {
  readonly env: Environment
  /** As in `process.versions.node`. */
  readonly nodeVersion: string
  readonly stdout: Output
  readonly stderr: Output
  now(): number
  /** Loads the notification module; called only when something may be sent. */
  loadNotify(): Promise<NotifyModule>
}

type Send = (
  notification: Notification,
  options?: { readonly ignoreThrottle?: boolean },
) => Promise<NotifyResult>

/** Runs the program and resolves with its exit code. Never rejects: every failure is a line of the log. */
export async function ticketNotify(argv: readonly string[], runtime: Runtime): Promise<number> {
  for (const output of [runtime.stdout, runtime.stderr]) ignoreWriteErrors(output)
  const log = createLog(runtime.stderr, runtime.now, isJournal(runtime.env, 2))
  try {
    return await start(argv, runtime, log)
  } catch (error) {
    if (error instanceof UsageError) {
      log.error(error.message)
      return WRONG_USAGE
    }
    const stack = error instanceof Error ? error.stack : undefined
    log.error(`the round failed: ${messageOf(error)}`, { stack })
    return FAILED
  }
}

async function start(argv: readonly string[], runtime: Runtime, log: Log): Promise<number> {
  const problem = nodeProblem(runtime.nodeVersion)
  if (problem !== undefined) {
    log.error(problem)
    return FAILED
  }
  const options = parseOptions(argv, runtime.env)
  if (options.help) {
    runtime.stdout.write(USAGE)
    return DONE
  }
  const stop = stopOnSignal(log)
  try {
    return await new Program(options, runtime, log, stop).run()
  } finally {
    stop.release()
  }
}

/** One run of the program with valid options. */
class Program {
  readonly #options: Options
  readonly #runtime: Runtime
  readonly #log: Log
  readonly #stop: Stop

  constructor(options: Options, runtime: Runtime, log: Log, stop: Stop) {
    this.#options = options
    this.#runtime = runtime
    this.#log = log
    this.#stop = stop
  }

  async run(): Promise<number> {
    const { selfTest, dryRun, seedOnly, stateFile } = this.#options
    const loaded = dryRun || seedOnly ? { send: this.#print } : await this.#loadSend()
    if ('problem' in loaded) return this.#fail(`the notification module cannot be loaded: ${loaded.problem}`)
    if (selfTest) return this.#selfTest(loaded.send)
    const problem = statePathProblem(stateFile)
    if (problem !== undefined)
      return this.#fail(`the state file cannot be used: ${problem}; name a file with --state`, {
        state: stateFile,
      })
    // A dry run writes nothing, not even a lock.
    return dryRun ? this.#round(loaded.send) : this.#runLocked(loaded.send)
  }

  #fail(message: string, fields: Readonly<Record<string, unknown>> = {}): number {
    this.#log.error(message, fields)
    return FAILED
  }

  readonly #print: Send = async (notification) => {
    this.#runtime.stdout.write(`${JSON.stringify(notification)}\n`)
    return { mail: 'sent', robot: 'sent', reasons: { mail: PRINTED, robot: PRINTED } }
  }

  async #loadSend(): Promise<{ readonly send: Send } | { readonly problem: string }> {
    try {
      const { notify }: Partial<NotifyModule> = await this.#runtime.loadNotify()
      if (typeof notify !== 'function') return { problem: 'it exports no function notify' }
      const options = { memoryFile: memoryFileOf(this.#options.stateFile), signal: this.#stop.abortSends }
      return { send: (notification, more) => notify(notification, { ...options, ...more }) }
    } catch (error) {
      return { problem: messageOf(error) }
    }
  }

  async #selfTest(send: Send): Promise<number> {
    const notice = selfTestNotice(this.#runtime.now())
    const { mail, robot, reasons, refused } = await send(notice, { ignoreThrottle: true })
    const fields = { mail, robot, reasons }
    if (mail !== 'sent') return this.#fail('self-test: mail does not work', fields)
    if (refused) this.#log.warn('mail was refused for some recipients', { ...fields, refused })
    this.#log.info('self-test passed', fields)
    return DONE
  }

  async #runLocked(send: Send): Promise<number> {
    const lock = this.#takeLock()
    if (typeof lock === 'number') return lock
    try {
      return await this.#round(send)
    } finally {
      lock()
    }
  }

  /** The function that releases the lock, or an exit code. */
  #takeLock(): ReleaseLock | number {
    const { stateFile } = this.#options
    let lock: ReleaseLock | LockOwner
    try {
      makeDirectoryOf(stateFile)
      lock = takeProcessLock(lockFileOf(stateFile))
    } catch (error) {
      // Where the lock cannot be written no state could be saved.
      return this.#fail(`nothing can be written beside the state file: ${messageOf(error)}`, {
        state: stateFile,
      })
    }
    if (typeof lock === 'function') return lock
    this.#log.info('another round is running: this one does nothing', { held_by: lock.heldBy })
    return DONE
  }

  async #round(send: Send): Promise<number> {
    const { dryRun, stateFile } = this.#options
    const store = dryRun ? new ReadOnlyStateStore(stateFile) : new FileStateStore(stateFile)
    const startedAt = performance.now()
    try {
      const counts = await runRound(this.#roundDeps(store, send), this.#options)
      this.#logDone(counts, performance.now() - startedAt)
      return DONE
    } catch (error) {
      return this.#reportFailure(error)
    } finally {
      store.close()
    }
  }

  #roundDeps(store: RoundDeps['store'], send: Send): RoundDeps {
    const sign = requestSigner(this.#options.keyFile, this.#runtime.now)
    const request = { ...this.#options, signal: this.#stop.requested, sign }
    const skipAlert: RoundDeps['reportAlert'] = async ({ alarm_id }) =>
      this.#log.info('dry run: the alert is not reported', { alert: alarm_id })
    return {
      log: this.#log,
      store,
      send,
      server: hostname(),
      now: this.#runtime.now,
      monotonic: () => performance.now(),
      fetchTickets: () => fetchTickets(request),
      reportAlert: this.#options.dryRun ? skipAlert : (alert) => reportAlert(alert, request),
      isStopping: () => this.#stop.requested.aborted,
    }
  }

  #logDone({ sendingMs, ...counts }: RoundCounts, durationMs: number): void {
    this.#log.info('round done', {
      ...counts,
      duration_ms: Math.round(durationMs),
      sending_ms: Math.round(sendingMs),
      ...(this.#stop.requested.aborted && { interrupted: true }),
    })
  }

  #reportFailure(error: unknown): number {
    const { api, stateFile } = this.#options
    if (error instanceof FetchError && this.#stop.requested.aborted) {
      this.#log.info('interrupted before the tickets were read')
      return DONE
    }
    if (error instanceof FetchError)
      return this.#fail('platform unreachable, round skipped', { api, reason: error.message })
    if (!(error instanceof SaveError)) throw error
    const reason = error.message
    return this.#fail('the state could not be saved, nothing more is sent', { state: stateFile, reason })
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
// A notification whose answer is not waited for may be sent twice.
const GRACE_MS = 500

interface Stop {
  /** Aborted when a signal comes. */
  readonly requested: AbortSignal
  /** Aborted a moment later: ends the requests that are still under way. */
  readonly abortSends: AbortSignal
  /** Restores the default action of the signals. */
  release(): void
}

/** Turns SIGTERM and SIGINT into an orderly end of the round. */
function stopOnSignal(log: Log): Stop {
  const requested = new AbortController()
  const abortSends = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (requested.signal.aborted) return
    log.info('stopping', { signal })
    requested.abort()
    timer = setTimeout(() => abortSends.abort(), GRACE_MS)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return {
    requested: requested.signal,
    abortSends: abortSends.signal,
    release() {
      clearTimeout(timer)
      for (const signal of SIGNALS) process.off(signal, onSignal)
    },
  }
}
