import { resultOf, startThread } from './thread.ts'

/** The SHA-256 of a file as 64 hexadecimal digits; computed on a thread of its own. */
export function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  return resultOf(startThread(import.meta.url, 'file-hash-thread', { path }), signal)
}
