import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RoutingSettings } from '../../src/domains/alerts/notifications/notifications.ts'
import { SEND_EVERY_MS } from '../../src/domains/alerts/notifications/sender.ts'
import type { WaitingClock } from '../../src/kernel/clock.ts'
import { SECOND } from '../../src/kernel/time.ts'
import type {
  ChannelMessage,
  NotificationChannel,
  SendOutcome,
} from '../../src/ports/notification-channel.ts'
import type { Store } from '../../src/store/store.ts'
import { eventually } from './eventually.ts'
import { createAlertsDomain, timedJobs } from './receiver-world.ts'
import type { FakeWaitingClock } from './waiting-clock.ts'

/** When a worker is killed: around its `step`-th write or message. */
export interface WorkerDeath {
  readonly step: number
  readonly when: 'before' | 'after'
}

export type ReceiverMood = 'works' | 'refuses' | 'hangs' | 'hangs and takes'

/** A receiver that outlives the workers, and what it has got: a message that is repeated under its key counts once. */
export class ModelReceiver {
  readonly got: ChannelMessage[] = []
  mood: ReceiverMood = 'works'

  take(message: ChannelMessage): void {
    if (!this.got.some(({ key }) => key === message.key)) this.got.push(message)
  }
}

export interface WorkerOptions {
  readonly store: Store
  readonly clock: FakeWaitingClock
  readonly routing: RoutingSettings
  readonly receivers: ReadonlyMap<string, ModelReceiver>
  readonly death?: WorkerDeath | undefined
}

const TIMEOUT_MS = 10 * SECOND
const REFUSED = { sent: false, reason: 'away', retryable: true, fault: 'receiver' } as const

/** A worker that may be killed: from then on nothing that it does has an effect, and nothing that it waits for comes. */
export class MortalWorker {
  readonly #options: WorkerOptions
  readonly #domain: ReturnType<typeof createAlertsDomain>
  readonly #died = Promise.withResolvers<void>()
  #isDead = false
  #steps = 0
  /** Its calls that are not answered yet. */
  #calls = 0
  /** Its senders that wait until they look for messages again. */
  #resting = 0

  constructor(options: WorkerOptions) {
    this.#options = options
    const { store, routing, receivers } = options
    this.#domain = createAlertsDomain({
      store: { ...store, write: (work, more) => this.#step(() => store.write(work, more)) },
      clock: this.#clock(),
      channels: new Map([...receivers].map(([name, receiver]) => [name, this.#channel(receiver)])),
      routing,
    })
    for (const runner of this.#domain.runners.worker) runner.start()
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Lets it end what it does, and stops it. */
  async stop(): Promise<void> {
    await Promise.race([
      this.#died.promise,
      Promise.all(this.#domain.runners.worker.map((runner) => runner.stop())),
    ])
    this.#isDead = true
  }

  /** Runs the jobs whose time may have come. */
  async runJobs(): Promise<void> {
    const run = async () => {
      for (const job of timedJobs(this.#domain)) await job.run(new AbortController().signal)
    }
    await Promise.race([this.#died.promise, run()])
    await this.idle()
  }

  /** Resolves when its senders wait for time to pass, or for a receiver that hangs. */
  async idle(): Promise<void> {
    await eventually('the worker is idle', async () => {
      await nextTurn()
      return this.#isDead || (this.#calls === 0 && this.#resting === this.#options.receivers.size)
    })
  }

  #clock(): WaitingClock {
    const { clock } = this.#options
    return {
      ...clock,
      wait: async (milliseconds, signal) => {
        const resting = milliseconds === SEND_EVERY_MS ? 1 : 0
        this.#resting += resting
        await clock.wait(milliseconds, signal)
        this.#resting -= resting
        if (this.#isDead) await never()
      },
    }
  }

  #channel(receiver: ModelReceiver): NotificationChannel {
    return {
      rate: { burst: 100, everyMs: 100 },
      fits: () => true,
      send: (message, signal) => this.#step(() => this.#send(receiver, message, signal)),
    }
  }

  async #send(
    receiver: ModelReceiver,
    message: ChannelMessage,
    signal: AbortSignal | undefined,
  ): Promise<SendOutcome> {
    const { mood } = receiver
    if (mood === 'refuses') return REFUSED
    if (mood !== 'hangs') receiver.take(message)
    if (mood === 'works') return { sent: true, answer: 'thanks' }
    this.#calls--
    await this.#options.clock.wait(TIMEOUT_MS, signal)
    this.#calls++
    return { ...REFUSED, reason: 'no answer', isUncertain: true }
  }

  /** A write or a message; the last one of its life may have an effect, and is never answered. */
  async #step<T>(run: () => Promise<T>): Promise<T> {
    if (this.#isDead) return never()
    const { death } = this.#options
    const isLast = ++this.#steps === death?.step
    if (isLast && death?.when === 'before') return this.#die()
    this.#calls++
    try {
      const result = await run()
      return isLast || this.#isDead ? await this.#die() : result
    } finally {
      this.#calls--
    }
  }

  #die(): Promise<never> {
    this.#isDead = true
    this.#died.resolve()
    return never()
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined)
}
