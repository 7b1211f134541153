import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { LoadTarget, Slice } from './load.ts'

/** Puts load on servers, one at a time, from a thread of its own. */
export interface LoadGenerator extends AsyncDisposable {
  apply(target: LoadTarget, forMs: number): Promise<Slice>
}

export function startLoadGenerator(): LoadGenerator {
  const worker = new Worker(new URL('./load-worker.ts', import.meta.url))
  return {
    async apply(target, forMs) {
      worker.postMessage({ target, forMs })
      const [outcome] = (await once(worker, 'message')) as [{ slice: Slice } | { error: unknown }]
      if ('error' in outcome) throw outcome.error
      return outcome.slice
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}
