/** The result of one reading. `refused` is final: the same call would be refused again. */
export type Reading<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'refused'; readonly status: 401 | 403; readonly message: string }
  | { readonly kind: 'failed'; readonly reason: string }

/** What the page shows about the polling. */
export type PollNews<T> =
  | Exclude<Reading<T>, { kind: 'failed' }>
  | {
      readonly kind: 'waiting'
      readonly reason: string
      readonly failures: number
      readonly retryInMs: number
    }
  | { readonly kind: 'paused' }

export interface PollDeps<T> {
  /** Rejects only when it is aborted. */
  readonly read: (signal: AbortSignal) => Promise<Reading<T>>
  readonly onNews: (news: PollNews<T>) => void
  /** Ends early, without an error, when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  /** Whether the page is hidden. */
  readonly isHidden: () => boolean
  /** Resolves when the page is visible again, or when the signal aborts. */
  readonly untilVisible: (signal: AbortSignal) => Promise<void>
}

export interface Polling {
  /** Ends the present pause. */
  readNow(): void
  stop(): void
}

const POLL_MS = 2_000
const LONGEST_PAUSE_MS = 30_000

/** Reads periodically until a reading is refused or the polling is stopped; not while the page is hidden. */
export function startPolling<T>(deps: PollDeps<T>): Polling {
  const stopped = new AbortController()
  let woken = new AbortController()
  const pause = async (ms: number) => {
    woken = new AbortController()
    await deps.wait(ms, AbortSignal.any([stopped.signal, woken.signal]))
  }
  void pollUntil(stopped.signal, deps, pause)
  return {
    readNow: () => woken.abort(),
    stop: () => stopped.abort(),
  }
}

async function pollUntil<T>(
  stopped: AbortSignal,
  deps: PollDeps<T>,
  pause: (ms: number) => Promise<void>,
): Promise<void> {
  let failures = 0
  while (!stopped.aborted) {
    if (deps.isHidden()) {
      deps.onNews({ kind: 'paused' })
      await deps.untilVisible(stopped)
      continue
    }
    const reading = await readOnce(deps, stopped)
    if (!reading) return
    failures = reading.kind === 'failed' ? failures + 1 : 0
    const pauseMs = pauseAfter(failures)
    deps.onNews(
      reading.kind === 'failed'
        ? { kind: 'waiting', reason: reading.reason, failures, retryInMs: pauseMs }
        : reading,
    )
    if (reading.kind === 'refused') return
    await pause(pauseMs)
  }
}

/** Undefined when the polling was stopped meanwhile. */
async function readOnce<T>({ read }: PollDeps<T>, stopped: AbortSignal): Promise<Reading<T> | undefined> {
  try {
    const reading = await read(stopped)
    return stopped.aborted ? undefined : reading
  } catch (error) {
    if (stopped.aborted) return undefined
    throw error
  }
}

/** Twice as long after each failure in a row. */
export function pauseAfter(failures: number): number {
  return Math.min(LONGEST_PAUSE_MS, POLL_MS * 2 ** failures)
}
