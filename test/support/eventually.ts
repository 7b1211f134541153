import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'

const POLL_MS = 20

/** Polls until `read` returns a truthy value, and returns it. On a timeout the error contains the last value or error. */
export async function eventually<T>(
  what: string,
  read: () => T | Promise<T>,
  { timeoutMs = 120_000 }: { readonly timeoutMs?: number } = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const seen = await attempt(read)
    if ('value' in seen && seen.value) return seen.value
    if (performance.now() > deadline) throw timeoutError(what, timeoutMs, seen)
    await pause(POLL_MS)
  }
}

type Seen<T> = { readonly value: T } | { readonly error: unknown }

async function attempt<T>(read: () => T | Promise<T>): Promise<Seen<T>> {
  try {
    return { value: await read() }
  } catch (error) {
    return { error }
  }
}

function timeoutError(what: string, timeoutMs: number, seen: Seen<unknown>): Error {
  const last = 'value' in seen ? `last read ${inspect(seen.value)}` : `last error ${inspect(seen.error)}`
  return new Error(
    `${what}: not within ${timeoutMs} ms; ${last}`,
    'error' in seen ? { cause: seen.error } : undefined,
  )
}
