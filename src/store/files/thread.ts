import { extname } from 'node:path'
import { getAsset, isSea } from 'node:sea'
import { Worker } from 'node:worker_threads'

/**
 * Starts a thread from the file `name` beside `importer`, the `import.meta.url` of the caller. A single executable has
 * no files beside it: there the code is an asset. Each thread is an entry of `scripts/build-platform.ts`. It does not
 * keep the process alive: who waits for an answer of it calls `ref()`, because the process ends before that otherwise.
 */
export function startThread(importer: string, name: string, workerData: object): Worker {
  const worker = isSea()
    ? new Worker(getAsset(`${name}.cjs`, 'utf8'), { eval: true, workerData })
    : new Worker(new URL(`./${name}${extname(importer)}`, importer), { workerData })
  worker.unref()
  return worker
}

/**
 * The message that a thread sends before it ends. Rejects with the error of the thread, or with the reason of `signal`
 * when it has ended after that without a message; `abort` makes it end. Keeps the process alive until then.
 */
export function resultOf<T>(
  worker: Worker,
  signal: AbortSignal | undefined,
  abort: () => void = () => void worker.terminate(),
): Promise<T> {
  worker.ref()
  return new Promise((resolve, reject) => {
    worker.once('message', (result: T) => resolve(result))
    worker.once('error', reject)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    worker.once('exit', () => {
      signal?.removeEventListener('abort', abort)
      reject(signal?.aborted ? (signal.reason as Error) : new Error('a thread ended without an answer'))
    })
  })
}

/** The SHA-256 of a file as 64 hexadecimal digits; computed on a thread of its own. */
export function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  return resultOf(startThread(import.meta.url, 'file-hash-thread', { path }), signal)
}
