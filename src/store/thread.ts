import { extname } from 'node:path'
import { getAsset, isSea } from 'node:sea'
import { Worker } from 'node:worker_threads'

/**
 * Starts a thread from the file `name` beside `importer`, the `import.meta.url` of the caller. A single executable has
 * no files beside it: there the code is an asset. Each thread is an entry of `scripts/build-platform.ts`.
 */
export function startThread(importer: string, name: string, workerData: object): Worker {
  const worker = isSea()
    ? new Worker(getAsset(`${name}.cjs`, 'utf8'), { eval: true, workerData })
    : new Worker(new URL(`./${name}${extname(importer)}`, importer), { workerData })
  worker.unref()
  return worker
}
