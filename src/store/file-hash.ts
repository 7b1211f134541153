import { startThread } from './thread.ts'

/** The SHA-256 of a file as 64 hexadecimal digits; computed on a thread of its own. */
export function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const worker = startThread(import.meta.url, 'file-hash-thread', { path })
  // The caller waits for the hash.
  worker.ref()
  const end = () => void worker.terminate()
  return new Promise<string>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    if (signal?.aborted) end()
    signal?.addEventListener('abort', end, { once: true })
    worker.once('exit', () => {
      signal?.removeEventListener('abort', end)
      reject(signal?.aborted ? (signal.reason as Error) : new Error(`${path} was not read to its end`))
    })
  })
}
