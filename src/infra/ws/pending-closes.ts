import type { SessionEnd, SessionRegistry } from '../../ports/session-registry.ts'
import { singleFlight } from './single-flight.ts'

const BATCH_SIZE = 500

/** Ends of sessions on their way to the registry: written in batches, and retried until the registry has taken them. */
export class PendingCloses {
  readonly #registry: Pick<SessionRegistry, 'close'>
  readonly #closes: SessionEnd[] = []
  /** Writes what is pending; resolves, without an error, when it is written or has failed. */
  readonly flush: () => Promise<void>

  constructor(registry: Pick<SessionRegistry, 'close'>, onFailure: (error: unknown) => void) {
    this.#registry = registry
    this.flush = singleFlight(() => this.#write(), onFailure)
  }

  add(end: SessionEnd): void {
    // Sessions that end in the same turn of the event loop are written together.
    if (this.#closes.push(end) === 1) setImmediate(() => void this.flush())
  }

  async #write(): Promise<void> {
    while (this.#closes.length > 0) {
      const batch = this.#closes.slice(0, BATCH_SIZE)
      await this.#registry.close(batch)
      this.#closes.splice(0, batch.length)
    }
  }
}
