import type { Worker } from 'node:worker_threads'
import type { CompiledQuery } from 'kysely'
import { SECOND } from '../../kernel/time.ts'
import { startThread, resultOf } from '../files/thread.ts'
import { storeUnavailable } from '../unavailable.ts'
import type { DatabaseContents } from '../../ports/database-files.ts'

interface WaitingQuery {
  readonly query: CompiledQuery
  readonly resolve: (rows: unknown[]) => void
  readonly reject: (error: unknown) => void
}

// The statistics of all domains are read together: one thread serves all of them.
const IDLE_MS = SECOND

/**
 * Runs queries on a SQLite file one after another, each on a connection of its own. Its thread starts with the first
 * query and ends after the last one: a thread that waits would keep several megabytes.
 */
export class ReaderThread {
  readonly #path: string
  readonly #inBackground: boolean
  readonly #waiting: WaitingQuery[] = []
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(path: string, { inBackground = false }: { readonly inBackground?: boolean } = {}) {
    this.#path = path
    this.#inBackground = inBackground
  }

  /** Rejects with `store_unavailable`; also when the signal aborts, once the query that runs has ended. */
  async read<R>(query: CompiledQuery<R>, signal?: AbortSignal): Promise<R[]> {
    const rows = this.#answer(query)
    const abort = () => this.end()
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return (await rows) as R[]
    } catch (error) {
      throw storeUnavailable(error)
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Ends the thread; a later query starts another one. The queries that have no answer reject once it has ended. */
  end(): void {
    clearTimeout(this.#idle)
    const worker = this.#worker
    if (this.#waiting.length === 0) this.#worker = undefined
    void worker?.terminate()
  }

  #answer(query: CompiledQuery): Promise<unknown[]> {
    clearTimeout(this.#idle)
    const { promise, resolve, reject } = Promise.withResolvers<unknown[]>()
    this.#waiting.push({ query, resolve, reject })
    if (this.#worker) this.#send(this.#worker, query)
    else this.#start()
    return promise
  }

  #start(): void {
    const worker = startThread(import.meta.url, 'sqlite-reader', {
      path: this.#path,
      inBackground: this.#inBackground,
    })
    this.#worker = worker
    let failure: Error | undefined
    worker.on('message', (rows: unknown[]) => {
      this.#waiting.shift()?.resolve(rows)
      if (this.#waiting.length > 0) return
      worker.unref()
      this.#idle = setTimeout(() => this.end(), IDLE_MS).unref()
    })
    worker.once('error', (error: Error) => (failure = error))
    worker.once('exit', () => {
      if (this.#worker === worker) this.#onExit(failure)
    })
    for (const { query } of this.#waiting) this.#send(worker, query)
  }

  #send(worker: Worker, { sql, parameters }: CompiledQuery): void {
    // The process must not end before the answer.
    worker.ref()
    worker.postMessage({ text: sql, values: parameters })
  }

  /** A failed query ends the thread; those behind it go to another one. */
  #onExit(failure: Error | undefined): void {
    this.#worker = undefined
    const unanswered = this.#waiting.splice(0, failure ? 1 : this.#waiting.length)
    const error = failure ?? new Error('a thread of the database ended without an answer')
    for (const { reject } of unanswered) reject(error)
    if (this.#waiting.length > 0) this.#start()
  }
}

interface ReadOptions {
  /** Lets requests go before the query. */
  readonly inBackground?: boolean
  readonly signal?: AbortSignal | undefined
}

/** Runs one query on a connection and a thread of its own: for what reads for a long time. Rejects with `store_unavailable`. */
export async function readInThread<R>(
  path: string,
  query: CompiledQuery<R>,
  { inBackground = false, signal }: ReadOptions = {},
): Promise<R[]> {
  const thread = new ReaderThread(path, { inBackground })
  try {
    return await thread.read(query, signal)
  } finally {
    thread.end()
  }
}

/** Copies a database as it is now to `target`, an empty file, while others read and write it. */
export async function copyInThread(path: string, target: string, signal?: AbortSignal): Promise<void> {
  const aborted = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const worker = startThread(import.meta.url, 'sqlite-backup', { path, target, aborted })
  // The thread closes its files itself: a thread that is terminated in the middle of a step would leave them open.
  await resultOf(worker, signal, () => Atomics.store(new Int32Array(aborted), 0, 1))
}

/** The rows of each table of a file and a hash of them. */
export async function hashTablesInThread(
  path: string,
  signal?: AbortSignal,
): Promise<DatabaseContents['tables']> {
  const worker = startThread(import.meta.url, 'sqlite-contents-thread', { path })
  return resultOf(worker, signal)
}
