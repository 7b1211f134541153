import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paymentWorld } from '../../../test/support/payments.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { EXPIRY_MS, WANTED } from '../../../test/support/orders.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../kernel/time.ts'
import { needsPerson, PAYMENT_MOVES, PAYMENT_STATUSES } from './model.ts'
import { restorePayments } from './store.ts'
import { paymentRunner, runnerScopes } from './worker.ts'

const FIRST_PAGE = { limit: 100 }
const listed = async ({ payments }: Awaited<ReturnType<typeof paymentWorld>>) =>
  (await payments.list({}, FIRST_PAGE)).items.map(needsPerson)

onEveryDialect('payments', (dialect) => {
  test('a payment is created at the provider after it is stored, and answers what the payer does', async () => {
    await using w = await paymentWorld(dialect)
    const payment = await w.open()
    assert.deepEqual(
      [payment.status, payment.amountCents, payment.currency, payment.refundedCents, payment.attention],
      ['open', 4_990, 'CNY', 0, null],
    )
    assert.match(payment.number, /^[0-9a-f]{32}$/)
    assert.equal(payment.actionUrl, `https://pay.example.org/${payment.number}`)
    assert.deepEqual(w.channel.calls, [`create ${payment.number}`])
    const again = await w.write((tx) => w.payments.create(tx, { orderId: 'o-1', channel: 'memory' }, 'shop'))
    assert.deepEqual([again.payment.id, again.outcome], [payment.id, 'existing'])
  })

  test('only a pending order of an amount that the provider takes can be paid, on a channel that exists', async () => {
    await using w = await paymentWorld(dialect)
    const create = (orderId: string, channel = 'memory') =>
      w.write((tx) => w.payments.create(tx, { orderId, channel }, 'shop'))
    await assert.rejects(create('none'), { code: 'order_not_found' })
    for (const [orderId, amountCents] of [
      ['free', 0],
      ['dear', 2_000_000_000],
    ] as const) {
      await w.write((tx) => w.orders.create(tx, { ...WANTED, orderId, amountCents }, 'shop'))
      await assert.rejects(create(orderId), { code: 'amount_not_payable' })
    }
    await assert.rejects(create('free', 'none'), { code: 'channel_not_found', message: /there are memory/ })
    await w.write((tx) => w.orders.move(tx, 'dear', 'paid', 'ada'))
    await assert.rejects(create('dear'), { code: 'invalid_transition' })
    assert.deepEqual(w.channel.calls, [])
  })

  test('an unclear creation is repeated with the same number and parameters until it is clear', async () => {
    await using w = await paymentWorld(dialect)
    w.channel.faults.push(
      { call: 'create', outcome: 'unclear', isDone: true },
      { call: 'create', outcome: 'unclear', isDone: false },
    )
    const unclear = await w.open()
    assert.equal(unclear.status, 'creating')
    for (let runs = 0; runs < 2; runs++) {
      w.clock.advance(40 * SECOND)
      await w.runDue()
    }
    assert.equal((await w.payments.get(unclear.id)).status, 'open')
    assert.deepEqual(
      w.channel.calls,
      Array.from({ length: 3 }, () => `create ${unclear.number}`),
    )
    assert.equal(w.channel.payments.size, 1)
  })

  test('a creation that is unclear for 23 hours, or refused, has failed, and its money still counts', async () => {
    await using w = await paymentWorld(dialect)
    w.channel.faults.push({ call: 'create', outcome: 'unclear', isDone: true })
    const unclear = await w.open()
    w.clock.advance(23 * HOUR)
    await w.runDue()
    const failed = await w.payments.get(unclear.id)
    assert.deepEqual([failed.status, failed.failedReason], ['failed', 'unclear'])
    await w.receive(w.channel.pay(unclear.number))
    assert.equal((await w.payments.get(unclear.id)).status, 'paid')
    w.channel.faults.push({ call: 'create', outcome: 'refused', isDone: false })
    assert.equal((await w.open('o-2')).failedReason, 'FAULT')
  })

  test('a creation that is refused because it is paid already has paid the order', async () => {
    await using w = await paymentWorld(dialect)
    w.channel.faults.push({ call: 'create', outcome: 'unclear', isDone: true })
    const { id, number } = await w.open()
    w.channel.pay(number)
    w.channel.faults.push({ call: 'create', outcome: 'refused', isDone: false })
    w.clock.advance(40 * SECOND)
    await w.runDue()
    assert.deepEqual(
      [(await w.payments.get(id)).status, (await w.orders.get('o-1')).status],
      ['paid', 'paid'],
    )
  })

  test('a callback pays the order once, however often it comes', async () => {
    await using w = await paymentWorld(dialect)
    const { id, number } = await w.open()
    const callback = w.channel.pay(number)
    const answers = await Promise.all(
      [callback, callback, { ...callback, eventId: 'e-other' }].map(w.receive),
    )
    assert.deepEqual(answers[0], w.channel.acknowledgement)
    assert.equal((await w.payments.get(id)).status, 'paid')
    const history = await w.orders.history('o-1')
    assert.deepEqual(
      history.map(({ to, actor }) => [to, actor]),
      [
        ['pending', 'shop'],
        ['paid', 'payment:memory'],
      ],
    )
    assert.equal(w.events.filter((type) => type === 'payment.paid').length, 1)
    assert.deepEqual(w.alerts, [])
    assert.deepEqual(
      (await w.payments.history(id)).map(({ change }) => change),
      ['created', 'open', 'paid'],
    )
  })

  test('a callback with a wrong signature stores nothing, and raises one alert an hour', async () => {
    await using w = await paymentWorld(dialect)
    await assert.rejects(w.payments.callbacks.verify('nobody', {}, Buffer.from('')), {
      code: 'channel_not_found',
      message: 'There is no payment channel "nobody".',
    })
    const verify = () => w.payments.callbacks.verify('memory', { 'x-signature': 'bad' }, Buffer.from('{"'))
    await assert.rejects(verify(), { code: 'bad_signature', kind: 'unauthenticated' })
    await assert.rejects(verify(), { code: 'bad_signature' })
    assert.deepEqual(w.alerts, ['payment.bad_signature:memory WARNING'])
    w.clock.advance(HOUR)
    await assert.rejects(verify(), { code: 'bad_signature' })
    assert.equal(w.alerts.length, 2)
  })

  test('a genuine callback says nothing about a payment of another channel, nor about the order that it names', async () => {
    await using w = await paymentWorld(dialect)
    const [dear, cheap] = [await w.open('o-1'), await w.open('o-2', w.other)]
    const callback = { ...w.other.pay(cheap.number), orderId: 'o-1' }
    const swapped = { ...callback, number: dear.number, eventId: 'e-swapped' }
    for (const each of [swapped, callback])
      await w.write((tx) => w.payments.callbacks.receive(tx, 'other', each))
    const statuses = await Promise.all(['o-1', 'o-2'].map(async (id) => (await w.orders.get(id)).status))
    assert.deepEqual(statuses, ['pending', 'paid'])
    assert.equal((await w.payments.get(dear.id)).status, 'open')
  })

  for (const [kind, arrange, orderStatus] of [
    ['late', 'expired', 'expired'],
    ['late', 'paid', 'paid'],
    ['amount_mismatch', 'wrong amount', 'pending'],
  ] as const) {
    test(`money for an order that is ${arrange} needs attention: ${kind}; resolving ends it`, async () => {
      await using w = await paymentWorld(dialect)
      const { id, number } = await w.open()
      if (arrange !== 'wrong amount') await w.write((tx) => w.orders.move(tx, 'o-1', arrange, 'ada'))
      await w.receive(w.channel.pay(number, arrange === 'wrong amount' ? 1 : undefined))
      const payment = await w.payments.get(id)
      assert.deepEqual([payment.status, payment.attention], ['paid', kind])
      assert.equal((await w.orders.get('o-1')).status, orderStatus)
      const ofPayment = () => w.alerts.filter((each) => each.startsWith(`payment.${kind}:${id}`))
      assert.equal(ofPayment().length, 1)
      const listed = await w.payments.list({ attention: 'any' }, FIRST_PAGE)
      assert.deepEqual(
        listed.items.map((each) => each.id),
        [id],
      )
      assert.deepEqual(await w.payments.summary(), {
        channels: ['memory', 'other'],
        attention: 1,
        oldestAt: payment.createdAt,
      })
      const resolved = await w.write((tx) => w.payments.resolve(tx, id, 'Served by hand.', 'ada'))
      assert.equal(resolved.attention, null)
      assert.equal(ofPayment().at(-1), `payment.${kind}:${id} CLOSE`)
    })
  }

  test('of two payments of one order that are both paid, the second is a duplicate, also at the same time', async () => {
    await using w = await paymentWorld(dialect)
    const first = await w.open()
    await w.write((tx) => w.payments.requestClose(tx, first.id, 'ada'))
    await w.payments.close(first.id)
    const { payment } = await w.write((tx) =>
      w.payments.create(tx, { orderId: 'o-1', channel: 'memory' }, 'shop'),
    )
    const second = await w.payments.complete(payment.id)
    await Promise.all([first, second].map(({ number }) => w.receive(w.channel.pay(number))))
    const kinds = await Promise.all(
      [first, second].map(async ({ id }) => (await w.payments.get(id)).attention),
    )
    assert.deepEqual(new Set(kinds), new Set(['duplicate', null]))
    assert.equal((await w.orders.history('o-1')).length, 2)
  })

  test('money with our mark for an unknown payment is kept without an order', async () => {
    await using w = await paymentWorld(dialect)
    const callback = w.channel.pay('0123456789abcdef0123456789abcdef', 500)
    await w.receive(callback)
    await w.receive({ ...callback, eventId: 'again' })
    const { items } = await w.payments.list({ attention: 'unknown_order' }, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ orderId, status, amountCents }) => [orderId, status, amountCents]),
      [[null, 'paid', 500]],
    )
    assert.equal(w.alerts.length, 1)
  })

  test('a lost callback is made up for by queries after 1, 5 and 15 minutes', async () => {
    await using w = await paymentWorld(dialect)
    const { id, number } = await w.open()
    for (const minutes of [1, 4]) {
      await w.runDue()
      w.clock.advance(minutes * MINUTE)
      await w.runDue()
    }
    assert.equal(w.channel.calls.filter((call) => call === `query ${number}`).length, 2)
    w.channel.pay(number)
    w.clock.advance(10 * MINUTE)
    await w.runDue()
    assert.equal((await w.payments.get(id)).status, 'paid')
    assert.equal((await w.orders.get('o-1')).status, 'paid')
  })

  test('a query that has no answer after a minute is repeated after 5 minutes, not later', async () => {
    await using w = await paymentWorld(dialect)
    const { id, number } = await w.open()
    w.channel.pay(number)
    w.channel.faults.push({ call: 'query', outcome: 'unclear', isDone: false })
    for (const [minutes, status] of [
      [1, 'open'],
      [3, 'open'],
      [1, 'paid'],
    ] as const) {
      w.clock.advance(minutes * MINUTE)
      await w.runDue()
      assert.equal((await w.payments.get(id)).status, status)
    }
  })

  test('a provider that does not answer makes no other one wait', async () => {
    await using w = await paymentWorld(dialect)
    for (let index = 0; index < 20; index++) await w.open(`o-${index}`)
    const { id, number } = await w.open('o-20', w.other)
    w.other.pay(number)
    w.channel.query = () => new Promise(() => undefined)
    w.clock.advance(MINUTE)
    const runners = runnerScopes([w.channel.name, w.other.name]).map((scope) =>
      paymentRunner(scope, w.payments, w),
    )
    for (const runner of runners) runner.start()
    await eventually(
      'the payment of the other provider',
      async () => (await w.payments.get(id)).status === 'paid',
    )
    await runners[1]?.stop()
  })

  test('what is left of a channel that the configuration has no longer is worked on, too', async () => {
    await using w = await paymentWorld(dialect)
    for (const [index, configured] of [[], [w.other.name]].entries()) {
      const { id, number } = await w.open(`o-${index}`)
      w.channel.pay(number)
      w.clock.advance(MINUTE)
      const runner = paymentRunner(runnerScopes(configured).at(-1) ?? assert.fail(), w.payments, w)
      runner.start()
      await eventually('it is paid', async () => (await w.payments.get(id)).status === 'paid')
      await runner.stop()
    }
  })

  for (const fault of [
    { outcome: 'unclear', isDone: false },
    { outcome: 'unclear', isDone: true },
    { outcome: 'refused', isDone: false },
  ] as const)
    test(`an order that ends otherwise closes its open payment at the provider, though its first answer is ${fault.outcome}${fault.isDone ? ' and late' : ''}`, async () => {
      await using w = await paymentWorld(dialect)
      const { id, number } = await w.open()
      await w.write((tx) => w.orders.move(tx, 'o-1', 'expired', 'ada'))
      w.channel.faults.push({ call: 'close', ...fault })
      await w.runDue()
      assert.equal((await w.payments.get(id)).status, 'open')
      w.clock.advance(30 * SECOND)
      await w.runDue()
      assert.equal((await w.payments.get(id)).status, 'closed')
      assert.equal(w.channel.payments.get(number)?.status, 'closed')
    })

  for (const isKnownByNumber of [true, false])
    test(`an order that ends while its payment is created leaves nothing open at a provider that ${isKnownByNumber ? 'knows' : 'does not know'} our numbers`, async () => {
      await using w = await paymentWorld(dialect)
      w.channel.isKnownByNumber = isKnownByNumber
      w.channel.faults.push({ call: 'create', outcome: 'unclear', isDone: true })
      const { id, number } = await w.open()
      await w.write((tx) => w.orders.move(tx, 'o-1', 'expired', 'ada'))
      w.channel.faults.push({ call: 'create', outcome: 'unclear', isDone: false })
      for (let runs = 0; runs < 4; runs++) {
        w.clock.advance(40 * SECOND)
        await w.runDue()
      }
      assert.equal((await w.payments.get(id)).status, 'closed')
      assert.equal(w.channel.payments.get(number)?.status, 'closed')
      assert.equal((await w.payments.history(id)).at(-1)?.change, 'closed')
    })

  test('the payer who was faster than the closing has paid', async () => {
    await using w = await paymentWorld(dialect)
    const { id, number } = await w.open()
    await w.write((tx) => w.payments.requestClose(tx, id, 'ada'))
    w.channel.pay(number)
    assert.equal((await w.payments.close(id)).status, 'paid')
    assert.equal((await w.orders.get('o-1')).status, 'paid')
  })

  test('the worker asks for an open payment before its order expires, and does not wait longer than 5 seconds', async () => {
    await using w = await paymentWorld(dialect)
    const { number } = await w.open()
    await w.open('o-2')
    w.channel.pay(number)
    w.clock.advance(EXPIRY_MS)
    await w.orders.expireDue(100)
    assert.deepEqual(
      [(await w.orders.get('o-1')).status, (await w.orders.get('o-2')).status],
      ['paid', 'expired'],
    )
    await w.open('o-3')
    w.channel.query = () => new Promise(() => undefined)
    w.clock.advance(EXPIRY_MS)
    const expiry = w.orders.expireDue(100)
    await w.clock.pass(5 * SECOND)
    await expiry
    assert.equal((await w.orders.get('o-3')).status, 'expired')
  })

  test('refunds never exceed what was paid, and each goes to the provider under its own number', async () => {
    await using w = await paymentWorld(dialect)
    const { id, number } = await w.open()
    const refund = (amountCents?: number) =>
      w.write((tx) => w.payments.refunds.create(tx, id, { amountCents, reason: 'broken' }, 'ada'))
    await assert.rejects(refund(), { code: 'invalid_transition' })
    await w.receive(w.channel.pay(number))
    const outcomes = await Promise.allSettled([3_000, 3_000].map(refund))
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    await assert.rejects(refund(1_991), { code: 'refund_too_large', message: /1990 cents are left/ })
    w.channel.faults.push({ call: 'refund', outcome: 'unclear', isDone: true })
    await w.runRefunds()
    w.clock.advance(40 * SECOND)
    await w.runRefunds()
    assert.equal((await w.payments.get(id)).refundedCents, 3_000)
    await refund()
    await w.runRefunds()
    assert.equal((await w.payments.get(id)).refundedCents, 4_990)
    assert.deepEqual(
      [...w.channel.refunds.values()].map(({ cents }) => cents),
      [3_000, 1_990],
    )
    await assert.rejects(refund(), { code: 'refund_too_large' })
    assert.equal(w.events.filter((type) => type === 'payment.refunded').length, 2)
    // Creating, open, paid, refunded twice.
    assert.equal((await w.payments.get(id)).version, 5)
  })

  test('a payment of another amount than its order is refunded as it was paid', async () => {
    await using w = await paymentWorld(dialect)
    const { id, number } = await w.open()
    await w.receive(w.channel.pay(number, 1_000))
    await w.write((tx) => w.payments.refunds.create(tx, id, { reason: 'wrong amount' }, 'ada'))
    await w.runRefunds()
    const { refundedCents, attention } = await w.payments.get(id)
    assert.deepEqual([refundedCents, attention], [1_000, null])
  })

  test('a channel fails while none of its last five payments is opened', async () => {
    await using w = await paymentWorld(dialect)
    const failing = async () => [...(await w.payments.health.reportFailing())]
    const raised = () => w.alerts.filter((each) => each.startsWith('payment.channel_failing:memory'))
    const refuse = async (count: number, from: number) => {
      for (let n = 0; n < count; n++) {
        w.channel.faults.push({ call: 'create', outcome: 'refused', isDone: false })
        await w.open(`o-${from + n}`)
      }
    }
    await refuse(4, 10)
    assert.deepEqual([await failing(), raised()], [[], []])
    await refuse(1, 20)
    for (let run = 0; run < 2; run++) assert.deepEqual(await failing(), ['memory'])
    assert.deepEqual(raised(), ['payment.channel_failing:memory HIGH'])
    w.clock.advance(HOUR)
    await failing()
    assert.equal(raised().length, 2, 'it is reported again')
    await w.open('o-30')
    assert.deepEqual(await failing(), [])
    assert.equal(raised().at(-1), 'payment.channel_failing:memory CLOSE')
    await refuse(5, 40)
    assert.deepEqual(await failing(), ['memory'])
    w.clock.advance(DAY)
    assert.deepEqual(await failing(), [], 'nobody has tried for a day')
  })

  test('a refund that the provider takes back days later fails with an alert, and can be made again', async () => {
    await using w = await paymentWorld(dialect)
    const { id, number } = await w.open()
    await w.receive(w.channel.pay(number))
    const refund = () => w.write((tx) => w.payments.refunds.create(tx, id, { reason: 'broken' }, 'ada'))
    const first = await refund()
    await w.runRefunds()
    w.clock.advance(3 * DAY)
    await w.receive(w.channel.refundCallback(first.number, 'failed'))
    assert.equal((await w.payments.get(id)).refundedCents, 0)
    assert.deepEqual(w.alerts, [`payment.refund_failed:${id} ERROR`])
    await refund()
    await w.runRefunds()
    assert.equal((await w.payments.get(id)).refundedCents, 4_990)
    assert.deepEqual(w.alerts.at(-1), `payment.refund_failed:${id} CLOSE`)
  })

  test('attention that a full refund has ended comes back when the refund is taken back, unless somebody resolved it', async () => {
    for (const isResolved of [false, true]) {
      await using w = await paymentWorld(dialect)
      const { id, number } = await w.open()
      await w.write((tx) => w.orders.move(tx, 'o-1', 'expired', 'ada'))
      await w.receive(w.channel.pay(number))
      if (isResolved) await w.write((tx) => w.payments.resolve(tx, id, 'Served by hand.', 'ada'))
      const refund = await w.write((tx) => w.payments.refunds.create(tx, id, { reason: 'late' }, 'ada'))
      await w.runRefunds()
      assert.equal((await w.payments.get(id)).attention, null)
      await w.receive(w.channel.refundCallback(refund.number, 'failed'))
      const { attention, refundedCents } = await w.payments.get(id)
      assert.deepEqual([attention, refundedCents], [isResolved ? null : 'late', 0])
      const ofLate = w.alerts.filter((each) => each.startsWith(`payment.late:${id}`))
      assert.equal(ofLate.at(-1), `payment.late:${id} ${isResolved ? 'CLOSE' : 'ERROR'}`)
      assert.equal(w.events.filter((type) => type === 'payment.attention').length, isResolved ? 1 : 2)
    }
  })

  test('only a payment with attention or a failed refund can be resolved, and once', async () => {
    await using w = await paymentWorld(dialect)
    const { id, number } = await w.open()
    const resolve = () => w.write((tx) => w.payments.resolve(tx, id, 'Done.', 'ada'))
    await assert.rejects(resolve(), { code: 'nothing_to_resolve' })
    await w.receive(w.channel.pay(number))
    await assert.rejects(resolve(), { code: 'nothing_to_resolve' })
    const refund = await w.write((tx) => w.payments.refunds.create(tx, id, { reason: 'broken' }, 'ada'))
    await w.receive(w.channel.refundCallback(refund.number, 'failed'))
    assert.deepEqual([needsPerson(await w.payments.get(id)), await listed(w)], [true, [true]])
    const inNeed = () => w.payments.list({ attention: 'any' }, FIRST_PAGE)
    assert.deepEqual(
      (await inNeed()).items.map((each) => each.id),
      [id],
    )
    await resolve()
    assert.deepEqual((await inNeed()).items, [])
    assert.deepEqual([needsPerson(await w.payments.get(id)), await listed(w)], [false, [false]])
    assert.equal(w.alerts.at(-1), `payment.refund_failed:${id} CLOSE`)
    await assert.rejects(resolve(), { code: 'nothing_to_resolve' })
  })

  test('a refund that was requested before another one failed does not end its alert', async () => {
    await using w = await paymentWorld(dialect)
    const { id, number } = await w.open()
    await w.receive(w.channel.pay(number))
    const refund = (amountCents: number) =>
      w.write((tx) => w.payments.refunds.create(tx, id, { amountCents, reason: 'broken' }, 'ada'))
    const first = await refund(1_000)
    await refund(2_000)
    w.clock.advance(SECOND)
    await w.receive(w.channel.refundCallback(first.number, 'failed'))
    await w.runRefunds()
    assert.equal((await w.payments.get(id)).refundedCents, 2_000)
    assert.deepEqual(w.alerts, [`payment.refund_failed:${id} ERROR`])
    assert.deepEqual(await listed(w), [true])
    w.clock.advance(SECOND)
    await refund(1_000)
    await w.runRefunds()
    assert.deepEqual(w.alerts.at(-1), `payment.refund_failed:${id} CLOSE`)
    assert.deepEqual(await listed(w), [false])
  })

  test('a pending refund is asked for, and given up after 7 days with an alert', async () => {
    await using w = await paymentWorld(dialect)
    const { id, number } = await w.open()
    await w.receive(w.channel.pay(number))
    w.channel.refundStatus = 'pending'
    await w.write((tx) => w.payments.refunds.create(tx, id, { reason: 'broken' }, 'ada'))
    await w.runRefunds()
    for (const minutes of [1, 4, 10, 15]) {
      w.clock.advance(minutes * MINUTE)
      await w.runRefunds()
    }
    assert.equal(w.channel.calls.filter((call) => call.startsWith('queryRefund')).length, 4)
    w.clock.advance(7 * DAY)
    await w.runRefunds()
    assert.deepEqual(w.alerts, [`payment.refund_failed:${id} ERROR`])
    assert.ok(needsPerson(await w.payments.get(id)))
    await w.write((tx) => w.payments.resolve(tx, id, 'The provider says it is made.', 'ada'))
    assert.equal(w.alerts.at(-1), `payment.refund_failed:${id} CLOSE`)
  })

  test('a refund that nobody has sent for 23 hours is asked for, never sent: the provider may have forgotten its number', async () => {
    await using w = await paymentWorld(dialect)
    const { id, number } = await w.open()
    await w.receive(w.channel.pay(number))
    const request = (amountCents: number) =>
      w.write((tx) => w.payments.refunds.create(tx, id, { amountCents, reason: 'broken' }, 'ada'))
    const [known, lost] = [await request(1_000), await request(500)]
    w.channel.refunds.set(known.number, { cents: 1_000, status: 'succeeded' })
    w.clock.advance(23 * HOUR)
    w.channel.faults.push({ call: 'queryRefund', outcome: 'unclear', isDone: false })
    await w.runRefunds()
    w.clock.advance(HOUR)
    await w.runRefunds()
    assert.deepEqual(
      w.channel.calls.filter((call) => call.startsWith('refund ')),
      [],
    )
    const { items } = await w.payments.refunds.list(id, FIRST_PAGE)
    assert.deepEqual(
      items.map((refund) => [refund.number, refund.status, refund.failedReason]),
      [
        [lost.number, 'failed', 'unclear'],
        [known.number, 'succeeded', null],
      ],
    )
    assert.ok(w.alerts.includes(`payment.refund_failed:${id} ERROR`))
    assert.equal((await w.payments.get(id)).refundedCents, 1_000)
    await request(3_990)
  })

  test('a restored database creates, closes and refunds nothing by itself; what it is told still counts', async () => {
    await using w = await paymentWorld(dialect)
    const [paid, open] = [await w.open('o-1'), await w.open('o-2')]
    w.channel.faults.push({ call: 'create', outcome: 'unclear', isDone: true })
    const creating = await w.open('o-3')
    await w.receive(w.channel.pay(paid.number))
    const refund = await w.write((tx) => w.payments.refunds.create(tx, paid.id, { reason: 'broken' }, 'ada'))
    await w.write((tx) => restorePayments(tx, w.clock.now()))
    w.channel.calls.length = 0
    await w.write((tx) => w.orders.move(tx, 'o-2', 'expired', 'ada'))
    for (let hours = 0; hours < 2; hours++) {
      w.clock.advance(HOUR)
      await w.runDue()
      await w.runRefunds()
    }
    assert.deepEqual(new Set(w.channel.calls), new Set([`queryRefund ${refund.number}`]))
    w.channel.refunds.set(refund.number, { cents: 4_990, status: 'succeeded' })
    w.clock.advance(HOUR)
    await w.runRefunds()
    assert.equal((await w.payments.get(paid.id)).refundedCents, 4_990)
    for (const [{ id, number }, attention] of [
      [open, 'late'],
      [creating, null],
    ] as const) {
      assert.equal((await w.payments.get(id)).status, 'closed')
      await w.receive(w.channel.pay(number))
      const { status, attention: found } = await w.payments.get(id)
      assert.deepEqual([status, found], ['paid', attention])
    }
    assert.equal((await w.orders.get('o-3')).status, 'paid')
  })

  for (const kind of ['late', 'duplicate'] as const)
    test(`with refund_late a ${kind} payment is refunded by itself, once, and its alert ends`, async () => {
      await using w = await paymentWorld(dialect, { refundLate: true })
      const { id, number } = await w.open()
      if (kind === 'late') await w.write((tx) => w.orders.move(tx, 'o-1', 'expired', 'ada'))
      else {
        const wanted = { orderId: 'o-1', channel: w.other.name }
        const { payment } = await w.write((tx) => w.payments.create(tx, wanted, 'shop'))
        const paid = w.other.pay((await w.payments.complete(payment.id)).number)
        await w.write((tx) => w.payments.callbacks.receive(tx, w.other.name, paid))
      }
      const callback = w.channel.pay(number)
      await Promise.all([callback, { ...callback, eventId: 'other' }].map(w.receive))
      await w.runRefunds()
      await w.runRefunds()
      const { refundedCents, attention } = await w.payments.get(id)
      assert.deepEqual([refundedCents, attention], [4_990, null])
      assert.deepEqual([w.channel.refunds.size, w.other.refunds.size], [1, 0])
      assert.equal(w.alerts.at(-1), `payment.${kind}:${id} CLOSE`)
    })
})

test('a paid payment stays paid, and every other status can become paid', () => {
  for (const status of PAYMENT_STATUSES)
    assert.equal(PAYMENT_MOVES[status].includes('paid'), status !== 'paid')
})
