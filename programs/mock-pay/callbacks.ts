import type { WaitingClock } from '../../src/kernel/clock.ts'
import { HOUR, SECOND } from '../../src/kernel/time.ts'
import type { Book, PaymentEvent } from './book.ts'
import type { Channel } from './channels.ts'
import type { CallbackOptions, Provider } from './provider.ts'
import type { Script } from './scenarios.ts'

export interface CallbackDeps {
  readonly book: Book
  readonly clock: WaitingClock
  readonly script: Script
  /** The address, to which the name of the channel is added. */
  readonly url: string
  /** Aborted when the server closes. */
  readonly signal: AbortSignal
  readonly providers: Readonly<Record<Channel, Provider>>
}

// The providers take days for this; they stop at the first acknowledgement, too.
const PAUSES_MS = [1, 2, 4, 8, 15, 30, 60].map((seconds) => seconds * SECOND)
const TIMEOUT_MS = 10 * SECOND
const REGULAR = { ageMs: 0, isForged: false }

/** Sends the callbacks of events, and repeats one that is not acknowledged. */
export class Callbacks {
  readonly #deps: CallbackDeps
  readonly #running = new Set<Promise<void>>()
  /** The events that wait until their channel has another one. */
  readonly #held = new Map<Channel, PaymentEvent[]>()

  constructor(deps: CallbackDeps) {
    this.#deps = deps
  }

  /** Resolves after the first attempt of each callback that was begun until now. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  tell(event: PaymentEvent): void {
    // The callback follows in a later turn, so that the response to the call that made the event is first.
    const run = new Promise<void>((resolve) => void setImmediate(resolve)).then(() => this.#run(event))
    this.#running.add(run)
    void run.finally(() => this.#running.delete(run))
  }

  async #run(event: PaymentEvent): Promise<void> {
    const { channel } = event.payment
    if (!this.#requestOf(event, REGULAR)) return
    const scripted = this.#deps.script.take(channel, 'callback')
    switch (scripted?.kind) {
      case 'lost':
        return
      case 'out_of_order':
        this.#held.set(channel, [...(this.#held.get(channel) ?? []), event])
        return
      case 'delay':
        await this.#deps.clock.wait(scripted.delayMs, this.#deps.signal)
        await this.#deliver(event)
        break
      case 'twice':
        await Promise.all([this.#deliver(event), this.#deliver(event)])
        break
      case 'bad_signature':
        await this.#deliver(event, { ...REGULAR, isForged: true })
        break
      case 'old_timestamp':
        await this.#deliver(event, { ...REGULAR, ageMs: HOUR })
        break
      case 'wrong_amount':
        await this.#deliver(this.#ofMore(event))
        break
      default:
        await this.#deliver(event)
    }
    await this.#releaseHeld(channel)
  }

  async #releaseHeld(channel: Channel): Promise<void> {
    const held = this.#held.get(channel) ?? []
    this.#held.delete(channel)
    for (const event of held) await this.#deliver(event)
  }

  /** The event of a payer who has paid more, as the book has it then. */
  #ofMore(event: PaymentEvent): PaymentEvent {
    const { payment } = event
    this.#deps.book.payMore(payment.id)
    return { ...event, payment: { ...payment, amountCents: payment.amountCents + 1 } }
  }

  /** Resolves after the first attempt; the repetitions, which are regular, go on aside. */
  async #deliver(event: PaymentEvent, fault = REGULAR): Promise<void> {
    if (!(await this.#post(event, fault))) void this.#repeat(event)
  }

  async #repeat(event: PaymentEvent): Promise<void> {
    for (const pause of PAUSES_MS) {
      await this.#deps.clock.wait(pause, this.#deps.signal)
      if (this.#deps.signal.aborted || (await this.#post(event, REGULAR))) return
    }
  }

  /** Whether it was acknowledged. */
  async #post(event: PaymentEvent, fault: typeof REGULAR): Promise<boolean> {
    const request = this.#requestOf(event, fault)
    if (!request) return true
    const { payment, refund } = event
    const url = `${this.#deps.url}/${encodeURIComponent((refund ?? payment).callbackName)}`
    try {
      const response = await fetch(url, {
        ...request,
        method: 'POST',
        redirect: 'manual',
        signal: AbortSignal.any([this.#deps.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      })
      return this.#deps.providers[payment.channel].isAcknowledged(response.status, await response.text())
    } catch {
      return false
    }
  }

  #requestOf(event: PaymentEvent, { ageMs, ...options }: typeof REGULAR) {
    const signing: CallbackOptions = { ...options, signedAt: this.#deps.clock.now() - ageMs }
    return this.#deps.providers[event.payment.channel].callbackOf(event, signing)
  }
}
