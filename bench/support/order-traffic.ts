import { callSteadily, type SteadyCall } from './steady-load.ts'

// Half a second later at a thousand events a second, when a page that follows the orders shows them.
const ORDERS_BEFORE_PAID = 250

/** Orders that are created and paid in turns: each call is an event. */
export class OrderTraffic {
  readonly #port: number
  readonly #eventsPerSecond: number
  #created = 0
  #paid = 0

  constructor(port: number, eventsPerSecond: number) {
    this.#port = port
    this.#eventsPerSecond = eventsPerSecond
  }

  /** Id of the newest order. */
  get lastOrder(): string {
    return orderId(this.#created)
  }

  /** Returns the events per second once all calls are answered. */
  async send(forMs: number): Promise<number> {
    const start = performance.now()
    const events = await callSteadily({
      port: this.#port,
      perSecond: this.#eventsPerSecond,
      forMs,
      next: () => this.#next(),
    })
    return (events * 1_000) / (performance.now() - start)
  }

  #next(): SteadyCall {
    const isPaymentDue = this.#created - this.#paid > ORDERS_BEFORE_PAID
    return isPaymentDue ? this.#pay() : this.#create()
  }

  #create(): SteadyCall {
    const body = { order_id: orderId(++this.#created), platform: 'live', amount_cents: 4_990 }
    return { method: 'POST', path: '/orders', body }
  }

  #pay(): SteadyCall {
    return { method: 'PUT', path: `/orders/${orderId(++this.#paid)}`, body: { status: 'paid' } }
  }
}

function orderId(number: number): string {
  return `bench-${process.pid}-${number}`
}
