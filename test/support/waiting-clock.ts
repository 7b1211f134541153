import type { WaitingClock } from '../../programs/vpn-client/index.ts'
import { fakeClock } from './clock.ts'
import { eventually } from './eventually.ts'

/** A clock that stands still until it is moved, with everybody who waits on it. */
export interface FakeWaitingClock extends WaitingClock {
  /** How long those who wait now have asked to wait. */
  waits(): number[]
  /** Moves time on; who is due by then goes on. */
  advance(milliseconds: number): void
  /** Resolves when somebody has asked to wait for exactly so long. */
  pending(milliseconds: number): Promise<void>
  /** Advances by that much as soon as somebody has asked to wait for exactly so long. */
  pass(milliseconds: number): Promise<void>
}

interface Waiter {
  readonly milliseconds: number
  readonly dueAt: number
  readonly resolve: () => void
}

export function fakeWaitingClock(): FakeWaitingClock {
  const clock = fakeClock()
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
    await eventually(`somebody waits for ${milliseconds} ms`, () => waits().includes(milliseconds), {
      timeoutMs: 30_000,
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
