import type { Chance } from './random.ts'

export interface ClientOptions {
  readonly url: string
  readonly clients: number
  /** The prefix of all ids; must be unique for each load on a database. */
  readonly prefix: string
  readonly chance: Chance
}

/** Clients that call a platform until they are stopped, or until it is killed. */
export interface Clients<T> {
  /** The last acknowledged state of each object. */
  readonly acknowledged: ReadonlyMap<string, T>
  /** Responses that are neither an acknowledgement nor an expected refusal. */
  readonly unexpected: readonly string[]
  /** Stops after the current calls; resolves immediately when the server is gone. */
  stop(): Promise<void>
}

/** What a client needs for its calls. */
export interface Calls<T> {
  readonly acknowledged: Map<string, T>
  isStopping(): boolean
  /** Whether the platform acknowledged the call. Rejects when the connection breaks: the result is unknown then. */
  isAcknowledged(call: Promise<Response>): Promise<boolean>
}

/**
 * Starts clients. Each one repeats `work` with the next number, one call after the other, until it is stopped or its
 * connection breaks. `refusals` are the statuses that are expected beside an acknowledgement.
 */
export function startClients<T>(
  clients: number,
  refusals: readonly number[],
  work: (calls: Calls<T>, client: number, number: number) => Promise<void>,
): Clients<T> {
  const acknowledged = new Map<string, T>()
  const unexpected: string[] = []
  let stopping = false
  const calls: Calls<T> = {
    acknowledged,
    isStopping: () => stopping,
    async isAcknowledged(call) {
      const answer = await call
      const body = await answer.text()
      if (!answer.ok && !refusals.includes(answer.status)) unexpected.push(`${answer.status} ${body}`)
      return answer.ok
    },
  }
  const run = async (client: number) => {
    for (let number = 1; !stopping; number++) {
      try {
        await work(calls, client, number)
      } catch {
        return
      }
    }
  }
  const running = Array.from({ length: clients }, (_, client) => run(client))
  return {
    acknowledged,
    unexpected,
    async stop() {
      stopping = true
      await Promise.all(running)
    },
  }
}
