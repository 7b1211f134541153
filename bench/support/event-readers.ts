import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** What the readers of a stream have seen since the last report. */
export interface EventReport {
  /** Events of each reader. */
  readonly counts: readonly number[]
  /** From the time in an event to its arrival, of some readers, in milliseconds. */
  readonly delaysMs: readonly number[]
}

/** Readers of the live stream, in a thread of their own. */
export interface EventReaders extends AsyncDisposable {
  report(): Promise<EventReport>
}

/** Resolves when all streams have begun. */
export async function startEventReaders(port: number, count: number): Promise<EventReaders> {
  const worker = new Worker(new URL('./event-reader-worker.ts', import.meta.url), {
    workerData: { port, count },
  })
  await once(worker, 'message')
  return {
    async report() {
      worker.postMessage('report')
      const [report] = (await once(worker, 'message')) as [EventReport]
      return report
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}
