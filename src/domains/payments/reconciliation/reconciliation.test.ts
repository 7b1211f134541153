import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { paymentWorld } from '../../../../test/support/payments.ts'
import { onEveryDialect } from '../../../../test/support/store.ts'
import { DAY, HOUR, MINUTE } from '../../../kernel/time.ts'
import type { BillRow } from '../../../ports/payments.ts'
import { newHolder } from '../../../store/work/holder.ts'
import { differencesCsv, differencesMarkdown } from './routes.ts'
import { dayRange } from './model.ts'
import { NumberSet } from './number-set.ts'
import { claimReconciliations } from './worker.ts'

const FIRST_PAGE = { limit: 100 }
const DATE = '2026-01-31'

const billRow = (number: string, amountCents: number, more: Partial<BillRow> = {}): BillRow => ({
  type: 'payment',
  number,
  providerId: `p-${number}`,
  status: 'succeeded',
  amountCents,
  ...more,
})

async function dayWorld(dialect: 'sqlite' | 'postgres') {
  const w = await paymentWorld(dialect)
  const paid = async (orderId: string) => {
    const { id, number } = await w.open(orderId)
    await w.receive(w.channel.pay(number))
    return { id, number }
  }
  const reconcile = () => w.reconciliations.runNow('memory', DATE, undefined, 'ada')
  return { ...w, paid, reconcile }
}

onEveryDialect('reconciliation', (dialect) => {
  test('a day whose books are the same matches; each difference shows both sides, and a later match ends the alert', async () => {
    await using w = await dayWorld(dialect)
    const [same, dearer, absent] = [await w.paid('o-1'), await w.paid('o-2'), await w.paid('o-3')]
    const open = await w.open('o-4')
    w.clock.advance(DAY)
    const foreign = randomUUID().replaceAll('-', '')
    w.channel.books = [
      billRow(same.number, 4_990),
      billRow(dearer.number, 5_000),
      billRow(open.number, 4_990),
      billRow(foreign, 1),
    ]
    const run = await w.reconcile()
    assert.deepEqual([run.status, run.matched, run.differences], ['differs', 1, 4])
    const { items } = await w.reconciliations.differences({ reconciliationId: run.id }, FIRST_PAGE)
    assert.deepEqual(
      items.map(({ kind, number, hereStatus, hereCents, thereStatus, thereCents }) => [
        kind,
        number,
        hereStatus,
        hereCents,
        thereStatus,
        thereCents,
      ]),
      [
        ['amount_differs', dearer.number, 'paid', 4_990, 'succeeded', 5_000],
        ['status_differs', open.number, 'open', 4_990, 'succeeded', 4_990],
        ['missing_here', foreign, null, null, 'succeeded', 1],
        ['missing_there', absent.number, 'paid', 4_990, null, null],
      ],
    )
    assert.deepEqual(w.alerts, ['payment.reconciliation:memory ERROR'])
    w.channel.books = [same, dearer, absent].map(({ number }) => billRow(number, 4_990))
    assert.equal((await w.reconcile()).status, 'matched')
    assert.deepEqual(w.alerts.at(-1), 'payment.reconciliation:memory CLOSE')
    assert.equal(w.events.filter((type) => type === 'payment.reconciled').length, 2)
  })

  test('no bill of a quiet day is a match; no bill of a day with payments is not', async () => {
    await using w = await dayWorld(dialect)
    w.clock.advance(DAY)
    assert.equal((await w.reconcile()).status, 'matched')
    w.clock.jump(-DAY)
    await w.paid('o-1')
    w.clock.jump(DAY)
    const run = await w.reconcile()
    assert.deepEqual([run.status, run.error], ['failed', 'no_bill'])
    assert.deepEqual(w.alerts, [])
  })

  test('a refund is compared by its own number', async () => {
    await using w = await dayWorld(dialect)
    const { id, number } = await w.paid('o-1')
    const refund = await w.write((tx) =>
      w.payments.refunds.create(tx, id, { amountCents: 90, reason: 'x' }, 'ada'),
    )
    await w.runRefunds()
    w.clock.advance(DAY)
    w.channel.books = [billRow(number, 4_990), billRow(refund.number, 90, { type: 'refund' })]
    assert.deepEqual([(await w.reconcile()).status, w.alerts], ['matched', []])
    w.channel.books = [billRow(number, 4_990)]
    const run = await w.reconcile()
    const { items } = await w.reconciliations.differences(
      { reconciliationId: run.id, kind: 'missing_there' },
      FIRST_PAGE,
    )
    assert.deepEqual(
      items.map((each) => [each.type, each.number]),
      [['refund', refund.number]],
    )
  })

  test('a number that the books have twice is money that was taken twice', async () => {
    await using w = await dayWorld(dialect)
    const { number } = await w.paid('o-1')
    w.clock.advance(DAY)
    w.channel.books = [billRow(number, 4_990), billRow(number, 4_990)]
    const run = await w.reconcile()
    assert.deepEqual([run.status, run.matched, run.differences], ['differs', 1, 1])
    const { items } = await w.reconciliations.differences({ reconciliationId: run.id }, FIRST_PAGE)
    assert.deepEqual([items[0]?.kind, items[0]?.number], ['missing_here', number])
  })

  test('what may be in the books of the day beside is asked for at the provider before it is missing', async () => {
    await using w = await dayWorld(dialect)
    const { id, number } = await w.paid('o-1')
    w.channel.refundStatus = 'pending'
    const refund = await w.write((tx) => w.payments.refunds.create(tx, id, { reason: 'x' }, 'ada'))
    await w.runRefunds()
    // 23:59 in Shanghai
    w.clock.advance(14 * HOUR - MINUTE)
    const [late, wrong] = [await w.paid('o-2'), await w.paid('o-3')]
    w.channel.pay(wrong.number, 1)
    w.clock.advance(DAY)
    w.channel.refunds.set(refund.number, { cents: 4_990, status: 'succeeded' })
    await w.runRefunds()
    w.channel.books = [billRow(number, 4_990), billRow(refund.number, 4_990, { type: 'refund' })]
    const run = await w.reconcile()
    const { items } = await w.reconciliations.differences({ reconciliationId: run.id }, FIRST_PAGE)
    assert.deepEqual(
      items.map((each) => [each.kind, each.number]),
      [['missing_there', wrong.number]],
    )
    assert.ok(w.channel.calls.includes(`query ${late.number}`))
    w.clock.advance(DAY)
    w.channel.books = [billRow(late.number, 4_990), billRow(wrong.number, 4_990)]
    const next = await w.reconciliations.runNow('memory', '2026-02-01', undefined, 'ada')
    assert.equal(next.status, 'matched')
    w.channel.faults.push({ call: 'query', outcome: 'unclear', isDone: false })
    w.channel.books = []
    assert.equal((await w.reconcile()).status, 'failed')
  })

  test('the alert of a failed one leads to its cause, and not to differences', async () => {
    await using w = await dayWorld(dialect)
    await w.reconciliations.requestDue()
    const { items } = await w.reconciliations.list(FIRST_PAGE)
    const row = await w.reconciliations.get(items.find(({ channel }) => channel === 'memory')?.id ?? '')
    const result = { status: 'failed', matched: 0, differences: 0, error: 'answered 401' } as const
    await w.store.write((tx) => w.reconciliations.finish(tx, row, result))
    assert.match(
      w.alertBodies.join(),
      /has failed: answered 401\. .* keys of the channel, in its secrets_file/,
    )
    assert.doesNotMatch(w.alertBodies.join(), /differences/)
  })

  test('one runs at a time for a channel, and no day that is not over', async () => {
    await using w = await dayWorld(dialect)
    const request = (date: string) => w.write((tx) => w.reconciliations.request(tx, 'memory', date, 'ada'))
    await assert.rejects(request(DATE), { code: 'validation_failed' })
    await assert.rejects(request('2026-02-30'), { code: 'validation_failed' })
    await request('2026-01-30')
    await assert.rejects(request('2026-01-29'), { code: 'reconciliation_running' })
  })

  test('what a command reconciles is left to it, until it has ended', async () => {
    await using w = await dayWorld(dialect)
    w.clock.advance(DAY)
    const [asked, bill] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()]
    w.channel.bill = () => {
      asked.resolve()
      return bill.promise
    }
    const command = w.reconcile()
    await asked.promise
    const now = w.clock.now()
    const request = {
      holder: 'worker',
      now,
      until: now + MINUTE,
      limit: 1,
      except: [],
      longestPauseMs: MINUTE,
    }
    const claim = () => w.store.write((tx) => claimReconciliations(tx, request))
    assert.deepEqual(await claim(), [])
    const ended = newHolder().replace(/\/\d+\//, `/${spawnSync('true').pid}/`)
    await w.store.write(({ db }) =>
      sql`update payment_reconciliations set lease_holder = ${ended}`.execute(db),
    )
    assert.equal((await claim()).length, 1)
    bill.resolve(undefined)
    await command
  })

  test('the worker requests the last days after the time of the day, once', async () => {
    await using w = await dayWorld(dialect)
    const listed = async () =>
      (await w.reconciliations.list(FIRST_PAGE)).items.flatMap(({ channel, date }) =>
        channel === 'memory' ? date : [],
      )
    // 10:00 in Shanghai
    const finishAll = async () => {
      for (let days = 0; days < 4; days++) {
        await w.reconciliations.requestDue()
        const { items } = await w.reconciliations.list(FIRST_PAGE)
        for (const { id, status } of items)
          if (status === 'running') {
            const row = await w.reconciliations.get(id)
            const result = await w.reconciliations.run(row, undefined)
            await w.store.write((tx) => w.reconciliations.finish(tx, row, result))
          }
      }
    }
    await finishAll()
    assert.deepEqual(await listed(), ['2026-01-29', '2026-01-28'])
    w.clock.advance(HOUR)
    await finishAll()
    assert.deepEqual(await listed(), ['2026-01-30', '2026-01-29', '2026-01-28'])
  })
})

test('a set of numbers holds each that was added, and no other', () => {
  const set = new NumberSet()
  const numbers = Array.from({ length: 1_000 }, (_, index) => index * index + 1)
  for (const number of [...numbers, Number.MAX_SAFE_INTEGER]) assert.ok(set.add(number))
  assert.ok([...numbers, Number.MAX_SAFE_INTEGER].every((number) => set.has(number) && !set.add(number)))
  for (let number = 0; number < 1_000; number++) assert.equal(set.has(number), numbers.includes(number))
})

test('a cell that begins like a formula, or has mark-up, stays text', () => {
  const difference = {
    kind: 'missing_here',
    type: 'payment',
    number: '=HYPERLINK("http://x")',
    paymentId: null,
    hereStatus: null,
    hereCents: null,
    thereStatus: 'succeeded',
    thereCents: -5,
    providerId: '@SUM(1,2)',
  } as const
  assert.equal(
    differencesCsv([difference]).split('\r\n')[1],
    `missing_here,payment,"'=HYPERLINK(""http://x"")",,,,succeeded,-5,"'@SUM(1,2)"`,
  )
  const markdown = differencesMarkdown([{ ...difference, providerId: 'a|b\n[x](http://y)<b>' }])
  assert.deepEqual(markdown.split('\n').slice(1), [
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    String.raw`| missing\_here | payment | =HYPERLINK\("http\://x"\) |  |  |  | succeeded | \-5 | a\|b \[x\]\(http\://y\)\<b\> |`,
    '',
  ])
})

test('a day of a time zone begins at its midnight, also when the clocks change', () => {
  const day = dayRange('2026-03-29', 'Europe/Berlin')
  assert.equal(day && day.to - day.from, 23 * HOUR)
  assert.equal(dayRange('2026-02-30', 'UTC'), undefined)
})
