import type { WaitingClock } from '../../src/kernel/clock.ts'
import { fakeClock, type FakeClock } from './clock.ts'
import { eventually } from './eventually.ts'

/** A clock that moves only when a test advances it, and then ends the waits that are due. */
export interface FakeWaitingClock extends FakeClock, WaitingClock {
  /** The durations of all pending waits, in milliseconds. */
  waits(): number[]
  /** Advances the time and ends the waits that are due. */
  advance(milliseconds: number): void
  /** Resolves when there is a wait of exactly that duration. */
  pending(milliseconds: number): Promise<void>
  /** Advances by that duration as soon as there is a wait of exactly that duration. */
  pass(milliseconds: number): Promise<void>
}

interface Waiter {
  readonly milliseconds: number
  readonly dueAt: number
  readonly resolve: () => void
}

export function fakeWaitingClock(start?: number): FakeWaitingClock {
  const clock = fakeClock(start)
  const waiters = new Set<Waiter>()

  const wait = (milliseconds: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal?.aborted) return resolve()
      const waiter = { milliseconds, dueAt: clock.monotonic() + milliseconds, resolve: () => end() }
      const end = () => {
        waiters.delete(waiter)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      waiters.add(waiter)
      signal?.addEventListener('abort', end, { once: true })
    })
  const waits = () => [...waiters].map(({ milliseconds }) => milliseconds)
  const advance = (milliseconds: number) => {
    clock.advance(milliseconds)
    for (const waiter of waiters) if (waiter.dueAt <= clock.monotonic()) waiter.resolve()
  }
  const pending = async (milliseconds: number) => {
    await eventually(`a wait of ${milliseconds} ms`, () => waits().includes(milliseconds), {
      timeoutMs: 120_000,
    })
  }
  return {
    ...clock,
    wait,
    waits,
    advance,
    pending,
    async pass(milliseconds) {
      await pending(milliseconds)
      advance(milliseconds)
    },
  }
}
