import { resultOf, startThread } from './thread.ts'

/** The SHA-256 of a file as 64 hexadecimal digits; computed on a thread of its own. */
export function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const worker = startThread(import.meta.url, 'file-hash-thread', { path })
  // The caller waits for the hash.
  worker.ref()
  return resultOf(worker, signal)
}
