/** What one reading brought. `refused` is final: the same call would be refused again. */
export type Reading<T> =
  | { readonly kind: 'answer'; readonly value: T }
  | { readonly kind: 'refused'; readonly status: 401 | 403; readonly message: string }
  | { readonly kind: 'failed'; readonly reason: string }

/** How the polling goes on. */
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
  /** Never rejects but when it is aborted. */
  readonly read: (signal: AbortSignal) => Promise<Reading<T>>
  readonly tell: (news: PollNews<T>) => void
  /** Ends early, without an error, when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
  /** Whether nobody looks at the page. */
  readonly isHidden: () => boolean
  /** Ends when somebody looks at it again, or when the signal aborts. */
  readonly untilVisible: (signal: AbortSignal) => Promise<void>
}

export interface Polling {
  /** Ends the present waiting, if any. */
  readNow(): void
  stop(): void
}

const POLL_MS = 2_000
const LONGEST_PAUSE_MS = 30_000

/** Reads again and again until a reading is refused or it is stopped; not while the page is hidden. */
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
      deps.tell({ kind: 'paused' })
      await deps.untilVisible(stopped)
      continue
    }
    const reading = await readOnce(deps, stopped)
    if (!reading) return
    failures = reading.kind === 'failed' ? failures + 1 : 0
    const pauseMs = pauseAfter(failures)
    deps.tell(
      reading.kind === 'failed'
        ? { kind: 'waiting', reason: reading.reason, failures, retryInMs: pauseMs }
        : reading,
    )
    if (reading.kind === 'refused') return
    await pause(pauseMs)
  }
}

/** Undefined when it was stopped meanwhile: nobody wants to hear of it any more. */
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
