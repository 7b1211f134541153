import type { WaitingClock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { backoffMs } from '../../../src/kernel/waiting.ts'
import { jsonMembersOf } from '../../../src/kernel/text.ts'
import { formatDuration, SECOND, MINUTE } from '../../../src/kernel/time.ts'
import type { Secret } from '../../../src/kernel/secret.ts'
import { logIn } from './gateway-login.ts'
import { askRecognition, RECOGNITION_REMEDIES, type PlatformReader } from './platform-reader.ts'

/** The result of one check. */
export interface SelfCheck {
  readonly name: string
  readonly ok: boolean
  /** What was found: one line, without secrets. */
  readonly detail: string
}

/** One check of the server. It is repeated until it passes, and runs beside the others. */
export interface SelfCheckStep {
  readonly name: string
  /** Resolves with what was found, or rejects with what is wrong. It ends soon after the signal is aborted. */
  check(signal: AbortSignal): Promise<string>
}

interface SelfCheckRun {
  readonly clock: WaitingClock
  readonly steps: readonly SelfCheckStep[]
  /** The setting `selfcheck_for`: how long a check may fail. */
  readonly forMs: number
  /** Called with the result of each check after each try. */
  readonly onResult?: (result: SelfCheck) => void
  readonly signal?: AbortSignal | undefined
}

const PAUSES = { initialMs: 2 * SECOND, maximumMs: 30 * SECOND }

/**
 * Runs the checks side by side, each until it passes or the time is over, and returns their last results in the order of
 * the steps. Never rejects.
 */
export async function runSelfcheck({
  clock,
  steps,
  forMs,
  onResult = () => undefined,
  signal,
}: SelfCheckRun): Promise<SelfCheck[]> {
  const over = new AbortController()
  const stop = signal ? AbortSignal.any([over.signal, signal]) : over.signal
  void clock.wait(forMs, stop).then(() => over.abort())
  const stopReason = () => (signal?.aborted ? 'interrupted' : `no result within ${formatDuration(forMs)}`)
  const repeat = async (step: SelfCheckStep): Promise<SelfCheck> => {
    for (let attempt = 0; ; attempt++) {
      const result = await tryOnce(step, stop, stopReason)
      onResult(result)
      if (result.ok || stop.aborted) return result
      await clock.wait(
        backoffMs(PAUSES, attempt, () => 1),
        stop,
      )
      if (stop.aborted) return result
    }
  }
  const results = await Promise.all(steps.map(repeat))
  over.abort()
  return results
}

/** The check may not react to the signal, which then ends the wait for it. */
async function tryOnce(
  { name, check }: SelfCheckStep,
  stop: AbortSignal,
  stopReason: () => string,
): Promise<SelfCheck> {
  const stopped = Promise.withResolvers<never>()
  const onStop = () => stopped.reject(new Error(stopReason()))
  if (stop.aborted) onStop()
  stop.addEventListener('abort', onStop, { once: true })
  try {
    const detail = await Promise.race([check(stop), stopped.promise])
    return { name, ok: true, detail }
  } catch (error) {
    return { name, ok: false, detail: errorMessage(error) }
  } finally {
    stop.removeEventListener('abort', onStop)
  }
}

/** The platform on this server, as far as the self-check uses it. */
export interface SelfcheckPlatform {
  /** Where the metrics of the worker may be, besides the address of the API. */
  readonly workerUrls: readonly string[]
  /** Whether a worker belongs to this server. */
  readonly hasWorker: boolean
  /** A read-only platform runs no jobs, and its gateway opens no sessions. */
  readonly isReadOnly: boolean
  /** The gateway of this server; undefined when there is none. */
  readonly gatewayUrl: string | undefined
  /** Signs a token of a user that the gateway accepts. */
  readonly signToken: () => Promise<Secret>
  /** Resolves with what was checked; rejects with what is wrong with the database. */
  readonly checkDatabase: (signal: AbortSignal) => Promise<string>
}

export interface SelfCheckDeps extends SelfcheckPlatform {
  readonly clock: WaitingClock
  readonly platform: PlatformReader
  /** Address of the platform's API. */
  readonly platformApi: string
  /** Throws when the token file of the drive cannot be used. */
  readonly readDriveToken: () => unknown
}

/** What proves that the server is back (docs/specification.md, Nightly backup). */
export function selfcheckSteps(deps: SelfCheckDeps): SelfCheckStep[] {
  return [
    { name: 'platform', check: () => checkHealth(deps) },
    { name: 'alerts', check: () => checkRecognition(deps) },
    { name: 'database', check: (signal) => deps.checkDatabase(signal) },
    { name: 'gateway', check: (signal) => checkGateway(deps, signal) },
    { name: 'worker', check: () => checkWorker(deps) },
    { name: 'token-file', check: async () => checkTokenFile(deps) },
  ]
}

/** A bus that is away delays events only. */
async function checkHealth({ platform, platformApi }: SelfCheckDeps): Promise<string> {
  const { status, text } = await platform.get(`${platformApi}/health`)
  const state = jsonMembersOf(text)['status']
  const summary = `HTTP status ${status}, ${typeof state === 'string' ? state : 'no health'}`
  if (status === 200 && (state === 'ok' || state === 'degraded')) return summary
  throw new Error(summary)
}

/** The alerts of a routine that the platform does not recognise would wait in the outbox for ever. */
async function checkRecognition({ platform, platformApi }: SelfCheckDeps): Promise<string> {
  const answer = await askRecognition(platform, platformApi)
  if (answer.outcome === 'recognised') return 'the platform recognises this routine'
  throw new Error(`${platformApi}: ${answer.reason}; ${RECOGNITION_REMEDIES[answer.outcome]}`)
}

async function checkGateway(deps: SelfCheckDeps, signal: AbortSignal): Promise<string> {
  const { gatewayUrl, signToken: readToken, clock, isReadOnly } = deps
  if (gatewayUrl === undefined) return 'skipped: no gateway belongs to this server'
  if (isReadOnly) return 'skipped: the platform is read-only'
  await logIn({ gatewayUrl, readToken, clock, signal })
  return `${gatewayUrl} has opened a session`
}

async function checkWorker(deps: SelfCheckDeps): Promise<string> {
  const { workerUrls, platform, platformApi, clock } = deps
  if (!deps.hasWorker) return 'skipped: no worker belongs to this server'
  if (deps.isReadOnly) return 'skipped: the platform is read-only'
  const addresses = [...new Set([...workerUrls, platformApi])]
  for (const address of addresses) {
    if (!(await runsWorker(platform, address))) continue
    const { text } = await platform.get(`${address}/metrics`)
    return describeJobs(text, clock.now())
  }
  throw new Error(`no worker answers at ${addresses.join(' or ')}; set worker.listen if it runs on its own`)
}

async function runsWorker(platform: PlatformReader, address: string): Promise<boolean> {
  const answer = await platform.get(`${address}/health`).catch(() => undefined)
  const { modules } = jsonMembersOf(answer?.text ?? '')
  return Array.isArray(modules) && modules.includes('worker')
}

function checkTokenFile({ readDriveToken }: SelfCheckDeps): string {
  readDriveToken()
  return 'can be used'
}

// The orders that have expired are searched every few seconds.
const MAX_AGE_MS = 5 * MINUTE

const SAMPLE = /^platform_(job_runs_total|job_last_success_timestamp_seconds)\{([^}]*)\} (\S+)$/gm

/** The last success of each job of a process in milliseconds, from its metrics; undefined for one that has none yet. */
export function jobTimes(metrics: string): Map<string, number | undefined> {
  const times = new Map<string, number | undefined>()
  for (const [, metric, labels = '', value] of metrics.matchAll(SAMPLE)) {
    const name = /(?:^|,)name="([^"]*)"/.exec(labels)?.[1]
    if (name === undefined) continue
    if (metric === 'job_runs_total') times.set(name, times.get(name))
    else times.set(name, Number(value) * SECOND)
  }
  return times
}

/**
 * What the metrics say about the jobs. Each has run since the start of its process, because the metrics begin with it.
 * Throws when a job has not succeeded yet, or none has for minutes.
 */
export function describeJobs(metrics: string, now: number): string {
  const times = jobTimes(metrics)
  if (times.size === 0) throw new Error('the worker has no jobs')
  const waiting = [...times].flatMap(([name, at]) => (at === undefined ? [name] : []))
  if (waiting.length > 0) throw new Error(`not succeeded since the start: ${waiting.join(', ')}`)
  const ageMs = now - Math.max(...[...times.values()].map((at) => at ?? 0))
  if (ageMs > MAX_AGE_MS) throw new Error(`no job has succeeded for ${Math.round(ageMs / SECOND)} s`)
  return `${times.size} jobs have succeeded, the last one ${Math.max(0, Math.round(ageMs / SECOND))} s ago`
}
