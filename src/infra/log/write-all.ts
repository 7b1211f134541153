import { writeSync } from 'node:fs'

/** How long a reader that is too slow is given before the next attempt. */
export const BUSY_RETRY_MS = 20
const MAX_BUSY_RETRIES = 100

/**
 * Writes all bytes before it returns. Never throws and always ends: it runs while the process exits, where nobody can do
 * anything about its failure.
 */
export function writeAllSync(fd: number, bytes: Buffer): void {
  let retriesLeft = MAX_BUSY_RETRIES
  for (let at = 0; at < bytes.length && retriesLeft > 0;) {
    try {
      at += writeSync(fd, bytes, at)
    } catch (error) {
      if (!(error instanceof Error) || !isBusy(error)) return
      retriesLeft -= 1
      pause(BUSY_RETRY_MS)
    }
  }
}

/** Whether the reader is only slow. */
export function isBusy(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EAGAIN' || error.code === 'EBUSY'
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}
