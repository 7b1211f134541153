import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WANTED } from '../../../test/support/orders.ts'
import { paymentProcess, paymentWorld } from '../../../test/support/payments.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { DAY, HOUR } from '../../kernel/time.ts'
import type { Callback } from '../../ports/payments.ts'
import type { Store } from '../../store/store.ts'

const CALLS: readonly (string | symbol)[] = ['create', 'query', 'close', 'refund', 'queryRefund', 'bill']
const DATE = '2026-01-31'

class Killed extends Error {}

/** A process that dies at its n-th point: before or after a transaction, and before or after a call to a provider. */
class Life {
  readonly #diesAt: number
  points = 0

  constructor(diesAt: number) {
    this.#diesAt = diesAt
  }

  async step<T>(work: () => Promise<T>): Promise<T> {
    this.#pass()
    const result = await work()
    this.#pass()
    return result
  }

  #pass(): void {
    if (++this.points >= this.#diesAt) throw new Killed()
  }
}

type World = Awaited<ReturnType<typeof paymentWorld>>
type Process = ReturnType<typeof paymentProcess>

function processOf(w: World, life: Life): Process {
  const write: Store['write'] = (work, options) => life.step(() => w.store.write(work, options))
  const channel = new Proxy(w.channel, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown
      if (typeof member !== 'function') return member
      const call = member.bind(target) as (...given: unknown[]) => Promise<unknown>
      return CALLS.includes(name) ? (...given: unknown[]) => life.step(() => call(...given)) : call
    },
  })
  return paymentProcess({ ...w, store: { ...w.store, write }, channel, refundLate: false })
}

interface Case {
  /** What is there before. */
  readonly prepare: (w: World, orderId: string) => Promise<unknown>
  /** What the process does that is killed. */
  readonly work: (p: Process, orderId: string) => Promise<unknown>
  /** What its caller repeats without an answer; a refund is looked for first. */
  readonly repeat: (w: World, orderId: string) => Promise<unknown>
  readonly check: (w: World, orderId: string) => Promise<void>
}

const paymentOf = async (w: World, orderId: string) => {
  const { items } = await w.payments.list({ orderId }, { limit: 10 })
  assert.equal(items.length, 1, 'one payment')
  return w.payments.get(items[0]?.id ?? '')
}
const create = async ({ store, payments }: Process, orderId: string) => {
  const { payment } = await store.write((tx) => payments.create(tx, { orderId, channel: 'memory' }, 'shop'))
  return payments.complete(payment.id)
}
const newOrder = (w: World, orderId: string) =>
  w.store.write((tx) => w.orders.create(tx, { ...WANTED, orderId }, 'shop'))
const opened = async (w: World, orderId: string) => {
  await newOrder(w, orderId)
  return create(w, orderId)
}
const callbacks = new Map<string, Callback>()
const isPaidThere = async (w: World, orderId: string) => {
  const { number } = await opened(w, orderId)
  callbacks.set(orderId, w.channel.pay(number))
}
const receive = ({ store, payments }: Process, orderId: string) =>
  store.write((tx) => payments.callbacks.receive(tx, 'memory', callbacks.get(orderId) as Callback))
const paid = async (w: World, orderId: string) => {
  await isPaidThere(w, orderId)
  await receive(w, orderId)
}
const refund = async (p: Process, orderId: string) => {
  const { items } = await p.payments.list({ orderId }, { limit: 1 })
  await p.store.write((tx) => p.payments.refunds.create(tx, items[0]?.id ?? '', { reason: 'broken' }, 'ada'))
  await p.runRefunds()
}
const close = async (p: Process, orderId: string) => {
  const { items } = await p.payments.list({ orderId }, { limit: 1 })
  const id = items[0]?.id ?? ''
  await p.store.write((tx) => p.payments.requestClose(tx, id, 'ada'))
  await p.payments.close(id)
}
const reconcile = (p: Process) => p.reconciliations.runNow('memory', DATE, undefined, 'ada')

const CASES: Readonly<Record<string, Case>> = {
  create: {
    prepare: newOrder,
    work: create,
    repeat: create,
    async check(w, orderId) {
      const { status, number, actionUrl } = await paymentOf(w, orderId)
      assert.deepEqual([status, w.channel.payments.get(number)?.status], ['open', 'open'])
      assert.notEqual(actionUrl, null)
      assert.equal(
        [...w.channel.payments.values()].filter((each) => each.parameters.includes(`"${orderId}"`)).length,
        1,
      )
    },
  },
  callback: {
    prepare: isPaidThere,
    work: receive,
    repeat: receive,
    async check(w, orderId) {
      const { id, status, attention } = await paymentOf(w, orderId)
      assert.deepEqual([status, attention, (await w.orders.get(orderId)).status], ['paid', null, 'paid'])
      const changes = (await w.payments.history(id)).map(({ change }) => change)
      assert.deepEqual(changes, ['created', 'open', 'paid'])
    },
  },
  refund: {
    prepare: paid,
    work: refund,
    async repeat(w, orderId) {
      const { id } = await paymentOf(w, orderId)
      if ((await w.payments.refunds.list(id, { limit: 1 })).items.length === 0) await refund(w, orderId)
    },
    async check(w, orderId) {
      const { id, refundedCents } = await paymentOf(w, orderId)
      const { items } = await w.payments.refunds.list(id, { limit: 10 })
      const [there] = items.map(({ number }) => w.channel.refunds.get(number))
      assert.deepEqual(
        [items.length, refundedCents, there],
        [1, 4_990, { cents: 4_990, status: 'succeeded' }],
      )
    },
  },
  close: {
    prepare: opened,
    work: close,
    async repeat(w, orderId) {
      if ((await paymentOf(w, orderId)).status === 'open') await close(w, orderId)
    },
    async check(w, orderId) {
      const { status, number } = await paymentOf(w, orderId)
      assert.deepEqual([status, w.channel.payments.get(number)?.status], ['closed', 'closed'])
    },
  },
  reconcile: {
    async prepare(w, orderId) {
      if (w.channel.books) return
      await paid(w, orderId)
      w.clock.advance(DAY)
      const row = { type: 'payment', providerId: undefined, status: 'succeeded' } as const
      const { number } = await paymentOf(w, orderId)
      w.channel.books = [
        { ...row, number, amountCents: 4_990 },
        { ...row, number: 'f'.repeat(32), amountCents: 1 },
      ]
    },
    work: reconcile,
    async repeat(w) {
      // Its lease.
      w.clock.advance(HOUR)
      await w.runReconciliations()
      const { items } = await w.reconciliations.list({ limit: 1 })
      if (items[0]?.status !== 'differs') await reconcile(w)
    },
    async check(w) {
      const { items } = await w.reconciliations.list({ limit: 1 })
      const [run] = items
      assert.deepEqual([run?.status, run?.matched, run?.differences], ['differs', 1, 1])
      const found = await w.reconciliations.differences({ reconciliationId: run?.id ?? '' }, { limit: 10 })
      assert.equal(found.items.length, 1)
    },
  },
}

onEveryDialect('a killed process', (dialect) => {
  for (const [name, { prepare, work, repeat, check }] of Object.entries(CASES))
    test(`${name}: killed at each point, nothing is lost and nothing is done twice`, async (t) => {
      await using w = await paymentWorld(dialect)
      let kills = 0
      for (let isKilled = true; isKilled;) {
        const orderId = `${name}-${kills}`
        await prepare(w, orderId)
        isKilled = await work(processOf(w, new Life(kills + 1)), orderId).then(
          () => false,
          (error: unknown) => {
            if (error instanceof Killed) return true
            throw error
          },
        )
        // In either order: the provider and the caller repeat, and the runner finds what is due.
        if (kills % 2 === 0) await repeat(w, orderId)
        for (let round = 0; round < 3; round++) {
          w.soon()
          await w.runDue()
          await w.runRefunds()
        }
        if (kills % 2 === 1) await repeat(w, orderId)
        await check(w, orderId)
        if (isKilled) kills++
      }
      assert.ok(kills >= 2)
      t.diagnostic(`${kills} kills`)
    })
})
