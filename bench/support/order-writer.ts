import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { sqliteIn } from './database.ts'

/** Commits completed orders to a database that a server has open, one order in each commit. */
export interface OrderWriter extends AsyncDisposable {
  /** Resolves when the first order is committed. */
  start(): Promise<void>
  /** Answers how many orders were committed since the start. */
  stop(): Promise<number>
}

export function startOrderWriter(dataDir: string): OrderWriter {
  const workerData = { path: sqliteIn(dataDir).path }
  const worker = new Worker(new URL('./order-writer-worker.ts', import.meta.url), { workerData })
  const perform = async (task: 'start' | 'stop'): Promise<number> => {
    worker.postMessage(task)
    const [commits] = (await once(worker, 'message')) as [number]
    return commits
  }
  return {
    async start() {
      await perform('start')
    },
    stop: () => perform('stop'),
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}
