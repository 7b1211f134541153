import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { noAlerts } from '../../../test/support/declared-alerts.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { inTransactions, onEveryDialect, testStore } from '../../../test/support/store.ts'
import { newId } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { type Labels, type Metrics, noMetrics } from '../../kernel/metrics.ts'
import { DAY, HOUR, SECOND, toRfc3339 } from '../../kernel/time.ts'
import { newTrace, runInTrace, traceHeaders } from '../../kernel/trace.ts'
import type { PlatformAlert } from '../../ports/alerts.ts'
import type { DeadLetters, OutboxMessage, UndeliveredMessage } from '../../ports/outbox.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import { telemetryPruneJob } from './index.ts'
import { TelemetryOutbox } from './outbox.ts'
import { encodeAgentWithItem, parseUpload } from './routes.ts'
import { Telemetry, type TelemetryDeps } from './service.ts'
import { continueUploadNumbers, deleteSilentAgents } from './store.ts'

const FIRST_PAGE = { limit: 100 }
const NOTHING = { delivered: [], failed: [], refused: [] }

type Limits = Pick<TelemetryDeps, 'maxAgents' | 'maxPendingBytes'> &
  Partial<Pick<TelemetryDeps, 'maxPending' | 'ratePerSecond'>>

async function world(dialect: DialectName, limits: Limits = {}) {
  const clock = fakeClock()
  const { store, [Symbol.asyncDispose]: dispose } = await testStore(dialect, clock)
  const alerts: PlatformAlert[] = []
  const { metrics, counts } = countingMetrics()
  let woken = 0
  const service = new Telemetry({
    store,
    clock,
    metrics,
    logger: silentLogger,
    delivery: { wake: () => void woken++ },
    newestMessage: sql<number>`coalesce((select max(seq) from messages), 0)`,
    maxPending: 1_000,
    ratePerSecond: 100,
    ...limits,
  })
  const dead: UndeliveredMessage[] = []
  let maxDead = Number.POSITIVE_INFINITY
  const deadLetters: DeadLetters = {
    setAside: async (tx, refused) => {
      if (dead.length + refused.length > maxDead) return false
      tx.afterCommit(() => dead.push(...refused))
      return true
    },
  }
  let recoveries = 0
  const newOutbox = () =>
    new TelemetryOutbox({
      store,
      clock,
      alerts: {
        ...noAlerts,
        raise: async (tx, alert) => tx.afterCommit(() => alerts.push(alert)),
        recoverIfRaised: async (tx) => tx.afterCommit(() => recoveries++),
      },
      deadLetters,
    })
  const outbox = newOutbox()
  const telemetry = inTransactions(store, service, 'accept')
  /** Sends items with these numbers, in one request. */
  const send = (agent: string, ...numbers: number[]) => {
    const items = numbers.map((n) => ({ data: { n } }))
    return telemetry.accept(parseUpload({ agent_id: agent, items }, clock.now()), 'collector')
  }
  const agents = async () => (await telemetry.listAgents(FIRST_PAGE)).items.map(({ agentId }) => agentId)
  return {
    addMessages: (count: number) =>
      store.write(async ({ db }) => {
        const message = { subject: 's', payload: '{}', headers: '{}', status: 'delivered', created_at: 0 }
        for (let added = 0; added < count; added++)
          await db
            .insertInto('messages')
            .values({ ...message, id: newId(), attempts: 0 })
            .execute()
      }),
    clock,
    store,
    service,
    telemetry,
    outbox,
    /** That of another process. */
    newOutbox,
    recoveries: () => recoveries,
    alerts,
    counts,
    send,
    agents,
    woken: () => woken,
    dead,
    limitDead: (count: number) => void (maxDead = count),
    [Symbol.asyncDispose]: dispose,
  }
}

function countingMetrics(): { metrics: Metrics; counts: Record<string, number> } {
  const counts: Record<string, number> = {}
  const counter = ({ name }: { name: string }) => ({
    increment(labels: Labels = {}, by = 1) {
      const key = [name, ...Object.values(labels)].join(' ')
      counts[key] = (counts[key] ?? 0) + by
    },
  })
  return { metrics: { ...noMetrics, counter }, counts }
}

interface Envelope {
  readonly id: string
  readonly data: { readonly agent_id: string; readonly at: string; readonly data: { readonly n: number } }
}

function envelopeOf({ payload }: Pick<OutboxMessage, 'payload'>): Envelope {
  return JSON.parse(payload) as Envelope
}

/** Messages as the agent and the number in each. */
function contents(messages: readonly Pick<OutboxMessage, 'payload'>[]): string[] {
  return messages.map(envelopeOf).map(({ data }) => `${data.agent_id} ${data.data.n}`)
}

onEveryDialect('telemetry', (dialect) => {
  test('each item is an event in a CloudEvents envelope on the subject of its agent', async () => {
    await using w = await world(dialect)
    const upload = parseUpload(
      { agent_id: 'press-7', at: '2026-01-30T03:00:00+01:00', data: { n: 1, text: 'a\nb' } },
      w.clock.now(),
    )
    await w.telemetry.accept(upload, 'collector')
    const [message, ...others] = await w.outbox.pending(10, [])
    assert.ok(message)
    assert.deepEqual(others, [])
    assert.equal(message.subject, 'telemetry.agent.press-7')
    assert.match(message.headers['content-type'] ?? '', /^application\/cloudevents\+json/)
    assert.deepEqual(JSON.parse(message.payload), {
      specversion: '1.0',
      id: message.id,
      source: '/platform/telemetry',
      type: 'telemetry.agent.press-7',
      subject: 'press-7',
      time: toRfc3339(w.clock.now()),
      datacontenttype: 'application/json',
      data: { agent_id: 'press-7', at: '2026-01-30T02:00:00.000Z', data: { n: 1, text: 'a\nb' } },
    })
    assert.equal(w.woken(), 1)
  })

  test('items belong to the trace of their upload', async () => {
    await using w = await world(dialect)
    const trace = newTrace()
    await runInTrace(trace, () => w.send('a', 1))
    const [message] = await w.outbox.pending(10, [])
    const traceparent = traceHeaders(trace)['traceparent']
    assert.equal(message?.traceHeaders?.['traceparent'], traceparent)
    assert.equal((JSON.parse(String(message?.payload)) as { traceparent: string }).traceparent, traceparent)
  })

  test('large uploads are sent, and read, in parts', async () => {
    await using w = await world(dialect)
    for (let n = 1; n <= 3; n++)
      await w.telemetry.accept(
        parseUpload({ agent_id: 'a', items: [{ data: { n, text: 'x'.repeat(600_000) } }] }, w.clock.now()),
        'collector',
      )
    assert.deepEqual(contents(await w.outbox.pending(10, [])), ['a 1'])
    const read: string[][] = []
    for (let place = 0, isMore = true; isMore;) {
      const events = await w.outbox.readAfter(place, 10)
      read.push(contents(events))
      isMore = events.length > 0
      place = events.at(-1)?.place ?? place
    }
    assert.deepEqual(read, [['a 1'], ['a 2'], ['a 3'], []])
  })

  test('items wait in the order in which they came, each with an id of its own', async () => {
    await using w = await world(dialect)
    await w.send('a', 1, 2)
    await w.send('b', 3)
    await w.send('a', 4)
    const waiting = await w.outbox.pending(10, [])
    assert.deepEqual(contents(waiting), ['a 1', 'a 2', 'b 3', 'a 4'])
    assert.equal(new Set(waiting.map(({ id }) => id)).size, 4)
    assert.deepEqual(contents(await w.outbox.pending(2, [])), ['a 1', 'a 2'])
    assert.deepEqual(contents(await w.outbox.pending(10, ['telemetry.agent.a', 'order.created'])), ['b 3'])
    assert.deepEqual(await w.outbox.pending(10, ['telemetry.>']), [])
    assert.equal((await w.outbox.pending(10, ['order.>'])).length, 4)
  })

  test('delivered items do not wait, and a second settlement changes nothing', async () => {
    await using w = await world(dialect)
    await w.send('a', 1, 2)
    await w.send('b', 3)
    const waiting = await w.outbox.pending(10, [])
    assert.deepEqual(await w.outbox.settle({ ...NOTHING, delivered: waiting.slice(0, 2) }), [])
    assert.deepEqual(contents(await w.outbox.pending(10, [])), ['b 3'])
    assert.partialDeepStrictEqual(await w.telemetry.totals(), { pending: 1, agents: 2 })
    await w.outbox.settle({ ...NOTHING, delivered: waiting.slice(0, 2) })
    assert.partialDeepStrictEqual(await w.telemetry.totals(), { pending: 1, agents: 2 })
  })

  test('after a failure in the middle of a request the rest of it is sent again', async () => {
    await using w = await world(dialect)
    await w.send('a', 1, 2, 3, 4)
    const [first, second, third] = await w.outbox.pending(10, [])
    assert.ok(first && second && third)
    await w.outbox.settle({ ...NOTHING, delivered: [first, second], failed: [{ ...third, reason: 'full' }] })
    const rest = await w.outbox.pending(10, [])
    assert.deepEqual(contents(rest), ['a 3', 'a 4'])
    assert.equal(rest[0]?.id, third.id)
    assert.equal((await w.telemetry.totals()).pending, 4, 'a request waits as a whole')
    await w.outbox.settle({ ...NOTHING, delivered: rest })
    assert.equal((await w.telemetry.totals()).pending, 0)
  })

  test('a settlement of failures alone changes nothing', async () => {
    await using w = await world(dialect)
    await w.send('a', 1)
    const [first] = await w.outbox.pending(10, [])
    assert.ok(first)
    assert.deepEqual(await w.outbox.settle({ ...NOTHING, failed: [{ ...first, reason: 'full' }] }), [])
    assert.deepEqual(contents(await w.outbox.pending(10, [])), ['a 1'])
  })

  test('a refused item becomes a dead message with an alert, and the others of its request are delivered', async () => {
    await using w = await world(dialect)
    await w.send('a', 1, 2, 3)
    await w.send('a', 4)
    const [first, second, third, fourth] = await w.outbox.pending(10, [])
    assert.ok(first && second && third && fourth)
    const refused = [{ ...second, reason: 'too large' }]
    const results = { ...NOTHING, delivered: [first, third, fourth], refused }
    assert.deepEqual(await w.outbox.settle(results), [])
    assert.deepEqual(await w.outbox.pending(10, []), [])
    assert.equal((await w.telemetry.totals()).pending, 0)
    assert.deepEqual(w.dead, refused)
    assert.deepEqual(
      w.alerts.map(({ alarmId, severity }) => [alarmId, severity]),
      [['telemetry.refused', 'ERROR']],
    )
    assert.match(w.alerts[0]?.body ?? '', /the agent a: too large\. .*status=dead/)
    await w.outbox.settle(results)
    assert.equal(w.dead.length, 1, 'a second settlement adds none')
  })

  test('a refused item behind one that failed is sent again after it', async () => {
    await using w = await world(dialect)
    await w.send('a', 1, 2)
    await w.send('a', 3, 4)
    const [first, second, third, fourth] = await w.outbox.pending(10, [])
    assert.ok(first && second && third && fourth)
    const failed = [{ ...second, reason: 'full' }]
    const refused = [{ ...fourth, reason: 'too large' }]
    // As by the dispatcher, which reports only the first failure of a subject.
    assert.deepEqual(await w.outbox.settle({ delivered: [first], failed, refused }), [fourth.seq])
    assert.deepEqual(contents(await w.outbox.pending(10, [])), ['a 2', 'a 3', 'a 4'])
    assert.deepEqual([w.dead, w.alerts], [[], []])
    await w.outbox.settle({ ...NOTHING, delivered: [second, third], refused })
    assert.deepEqual(w.dead, refused)
    assert.equal((await w.telemetry.totals()).pending, 0)
  })

  test('the alert names the agents of refused items', async () => {
    await using w = await world(dialect)
    for (const agent of ['a', 'b', 'b', 'c']) await w.send(agent, 1)
    const refused = (await w.outbox.pending(10, [])).map((message) => ({
      ...message,
      reason: 'no permission',
    }))
    await w.outbox.settle({ ...NOTHING, refused })
    assert.match(w.alerts[0]?.body ?? '', /the agent a and 2 more: no permission/)
    assert.equal(w.dead.length, 4)
  })

  test('the alert ends when telemetry of each refused agent was taken, also after a restart', async () => {
    await using w = await world(dialect)
    for (const agent of ['a', 'b']) await w.send(agent, 1)
    const refused = (await w.outbox.pending(10, [])).map((message) => ({ ...message, reason: 'no' }))
    await w.outbox.settle({ ...NOTHING, refused })
    for (const [agent, recoveries] of [
      ['a', 0],
      ['b', 1],
    ] as const) {
      await w.send(agent, 2)
      const restarted = w.newOutbox()
      await restarted.settle({ ...NOTHING, delivered: await restarted.pending(10, []) })
      assert.equal(w.recoveries(), recoveries)
    }
  })

  test('the alert does not wait for an agent that sends no more, whatever its clock does', async () => {
    for (const step of [DAY, -8 * HOUR]) {
      await using w = await world(dialect)
      await w.send('a', 1)
      const refused = (await w.outbox.pending(10, [])).map((message) => ({ ...message, reason: 'no' }))
      await w.outbox.settle({ ...NOTHING, refused })
      await w.outbox.endAlert()
      assert.equal(w.recoveries(), 0)
      w.clock.advance(step)
      await w.outbox.endAlert()
      assert.equal(w.recoveries(), 1)
    }
  })

  test('while too many messages are dead, refused items wait, and the later ones of their agents', async () => {
    await using w = await world(dialect)
    w.limitDead(0)
    await w.send('a', 1, 2, 3)
    await w.send('b', 1)
    const [first, second, third, other] = await w.outbox.pending(10, [])
    assert.ok(first && second && third && other)
    const refused = [{ ...second, reason: 'no permission' }]
    const skipped = await w.outbox.settle({ ...NOTHING, delivered: [first, third, other], refused })
    assert.deepEqual(
      skipped.toSorted((a, b) => a - b),
      [second.seq, third.seq],
    )
    assert.deepEqual(contents(await w.outbox.pending(10, [])), ['a 2', 'a 3'])
    assert.deepEqual(w.dead, [])
    assert.match(w.alerts[0]?.body ?? '', /the agent a: no permission\. Too many messages are dead/)
    w.limitDead(1)
    await w.outbox.settle({ ...NOTHING, delivered: [third], refused })
    assert.deepEqual(w.dead, refused)
    assert.equal((await w.telemetry.totals()).pending, 0)
  })

  test('an agent may send its rate and five seconds’ worth at once; a batch that does not fit is refused whole', async () => {
    await using w = await world(dialect, { ratePerSecond: 2 })
    const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
    await w.send('a', ...numbers(9))
    await assert.rejects(w.send('a', 1, 2), { code: 'rate_limited', retryAfterSeconds: 0.5 })
    await w.send('a', 1)
    await w.send('b', ...numbers(10))
    w.clock.advance(SECOND)
    await w.send('a', 1, 2)
    await assert.rejects(w.send('a', 1), { code: 'rate_limited' })
    assert.equal((await w.telemetry.getAgent('a')).items, 12)
    assert.deepEqual(w.counts, {
      telemetry_accepted_total: 22,
      'telemetry_refused_total rate': 3,
    })
  })

  test('a batch that never fits is refused with the size that fits', async () => {
    await using w = await world(dialect, { ratePerSecond: 1 })
    await assert.rejects(w.send('a', 1, 2, 3, 4, 5, 6), {
      code: 'rate_limited',
      message: /accepted\. A batch of 6 never fits: send 5 at most\.$/,
    })
    await w.send('a', 1, 2, 3, 4, 5)
    await assert.rejects(w.send('a', 6), { message: /none of these items was accepted\.$/ })
  })

  test('no more items wait than the maximum, and there is room again after a delivery', async () => {
    await using w = await world(dialect, { maxPending: 5 })
    await w.send('a', 1, 2, 3)
    await assert.rejects(w.send('b', 1, 2, 3), { code: 'rate_limited', retryAfterSeconds: 5 })
    await w.send('b', 1, 2)
    await assert.rejects(w.send('a', 4), { code: 'rate_limited', message: /^5 items .* no room for 1 more/ })
    assert.partialDeepStrictEqual(await w.telemetry.totals(), { pending: 5, agents: 2 })
    await w.outbox.settle({ ...NOTHING, delivered: await w.outbox.pending(3, []) })
    await w.send('a', 4, 5, 6)
    assert.equal(w.counts['telemetry_refused_total pending'], 4)
  })

  test('no more bytes wait than the maximum', async () => {
    await using w = await world(dialect, { maxPendingBytes: 150 })
    await w.send('a', 1)
    await w.send('a', 2)
    const { pendingBytes: waiting } = await w.telemetry.totals()
    assert.ok(waiting > 75 && waiting <= 150, String(waiting))
    await assert.rejects(w.send('a', 3), {
      code: 'rate_limited',
      message: `150 bytes of items may wait for the bus, and there is no room for ${waiting / 2} more.`,
    })
    await w.outbox.settle({ ...NOTHING, delivered: await w.outbox.pending(3, []) })
    assert.equal((await w.telemetry.totals()).pendingBytes, 0)
    await w.send('a', 3)
  })

  test('an agent has its first and last time, the number of its items and its last item', async () => {
    await using w = await world(dialect)
    const firstAt = w.clock.now()
    await w.send('a', 1, 2)
    w.clock.advance(SECOND)
    const at = '2026-01-01T00:00:00Z'
    const upload = parseUpload({ agent_id: 'a', at, data: { n: 3 } }, w.clock.now())
    await w.telemetry.accept(upload, 'collector')
    assert.deepEqual(JSON.parse(encodeAgentWithItem(await w.telemetry.getAgent('a'))), {
      agent_id: 'a',
      first_at: toRfc3339(firstAt),
      last_at: toRfc3339(firstAt + SECOND),
      items: 3,
      last_item: { at: '2026-01-01T00:00:00.000Z', data: { n: 3 } },
    })
    await assert.rejects(w.telemetry.getAgent('b'), { code: 'agent_not_found' })
  })

  test('the agents that have been silent longest are forgotten first', async () => {
    await using w = await world(dialect, { maxAgents: 2 })
    const sendInTurn = async (...agents: string[]) => {
      for (const agent of agents) {
        await w.send(agent, 1)
        w.clock.advance(SECOND)
      }
    }
    await sendInTurn('a', 'b', 'a', 'c')
    assert.deepEqual(await w.agents(), ['c', 'a'])
    await sendInTurn('d')
    assert.deepEqual(await w.agents(), ['d', 'c'])
    assert.equal((await w.telemetry.totals()).agents, 2)
    assert.equal((await w.outbox.pending(10, [])).length, 5, 'their items are still sent')
  })

  test('no agent is forgotten while every other one is sending', async () => {
    await using w = await world(dialect)
    await w.send('a', 1)
    assert.equal(await w.store.write((tx) => deleteSilentAgents(tx, 1, 'a')), 0)
    assert.deepEqual(await w.agents(), ['a'])
  })

  test('a new agent is remembered, also when the clock was set back', async () => {
    await using w = await world(dialect, { maxAgents: 2 })
    await w.send('a', 1)
    w.clock.advance(SECOND)
    await w.send('b', 1)
    w.clock.jump(-HOUR)
    await w.send('c', 1)
    assert.deepEqual((await w.agents()).toSorted(), ['b', 'c'])
    assert.equal((await w.telemetry.totals()).agents, 2)
  })

  test('telemetry that was delivered more than an hour ago is removed, but not what waits', async () => {
    await using w = await world(dialect)
    await w.send('a', 1)
    await w.outbox.settle({ ...NOTHING, delivered: await w.outbox.pending(10, []) })
    await w.send('a', 2)
    w.clock.advance(HOUR + 1)
    await w.send('b', 3)
    const [, young] = await w.outbox.pending(10, [])
    await w.outbox.settle({ ...NOTHING, delivered: [young as OutboxMessage] })
    const kept = async () => contents(await w.outbox.readAfter(0, 100))
    const prune = () => telemetryPruneJob(w.telemetry, w.clock).run(new AbortController().signal)
    await prune()
    assert.deepEqual(await kept(), ['a 2', 'b 3'])
    w.clock.advance(2 * HOUR)
    await prune()
    assert.deepEqual(await kept(), ['a 2', 'b 3'], 'the newest one is kept for its number')
  })

  test('the log has every event in the order of its place, delivered or not', async () => {
    await using w = await world(dialect)
    assert.deepEqual([await w.outbox.newestPlace(0), await w.outbox.readAfter(0, 10)], [0, []])
    await w.send('a', 1, 2, 3)
    await w.send('b', 4, 5)
    await w.outbox.settle({ ...NOTHING, delivered: await w.outbox.pending(1, []) })
    const all = await w.outbox.readAfter(0, 100)
    assert.deepEqual(contents(all), ['a 1', 'a 2', 'a 3', 'b 4', 'b 5'])
    const places = all.map(({ place }) => place)
    assert.deepEqual(
      places.toSorted((a, b) => a - b),
      places,
    )
    assert.equal(await w.outbox.newestPlace(0), places.at(-1))
    for (const [index, place] of places.entries())
      assert.deepEqual(await w.outbox.readAfter(place, 100), all.slice(index + 1))
    assert.deepEqual((await w.outbox.readAfter(places[2] ?? 0, 1))[0], all[3], 'behind the end of a request')
  })

  test('the log has the position of each event among the messages', async () => {
    await using w = await world(dialect)
    await w.send('a', 1)
    await w.addMessages(7)
    await w.send('a', 2, 3)
    await w.send('b', 4)
    await w.addMessages(1)
    await w.send('a', 5)
    await w.outbox.waitForTransactions()
    const all = await w.outbox.readAfter(0, 100)
    assert.deepEqual(
      all.map(({ afterMessage }) => afterMessage),
      [0, 7, 7, 7, 8],
    )
    const newest = await Promise.all([0, 6, 7, 8].map((message) => w.outbox.newestPlace(message)))
    assert.deepEqual(
      newest,
      [0, 0, 3, 4].map((index) => all[index]?.place),
    )
  })

  test('the log is settled when no upload is open any more', async () => {
    await using w = await world(dialect)
    if (!w.store.capabilities.concurrentWriters) return
    const [written, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const upload = parseUpload({ agent_id: 'a', data: {} }, w.clock.now())
    const writing = w.store.write(async (tx) => {
      await w.service.accept(tx, upload, 'collector')
      written.resolve()
      await commit.promise
    })
    await written.promise
    const settled = w.outbox.waitForTransactions()
    setTimeout(commit.resolve, 50)
    await settled
    assert.equal((await w.outbox.readAfter(0, 10)).length, 1)
    await writing
  })

  test('a restored log continues above every place that was given out, with nothing to send', async () => {
    await using w = await world(dialect)
    await w.send('a', 1, 2)
    w.clock.advance(1)
    await w.store.write((tx) => continueUploadNumbers(tx, w.clock.now()))
    const [, newest] = await w.outbox.readAfter(0, 10)
    assert.deepEqual(await w.outbox.readAfter(newest?.place ?? 0, 10), [])
    await w.outbox.settle({ ...NOTHING, delivered: await w.outbox.pending(10, []) })
    assert.deepEqual(await w.outbox.pending(10, []), [])
    await w.send('a', 3, 4)
    const lost = (newest?.place ?? 0) + 5_000
    const all = await w.outbox.readAfter(lost, 10)
    assert.deepEqual(contents(all), ['a 3', 'a 4'])
    assert.deepEqual((await w.outbox.readAfter(lost, 1))[0], all[0])
    assert.deepEqual(contents(await w.outbox.readAfter(0, 10)), ['a 1', 'a 2', 'a 3', 'a 4'])
    const places = all.map(({ place }) => place)
    assert.equal(await w.outbox.newestPlace(0), places[1])
    assert.ok(places.every((place) => place > w.clock.now() && Number.isSafeInteger(place)))
  })

  test('the log knows up to where events have been removed', async () => {
    await using w = await world(dialect)
    assert.equal(await w.outbox.removedUpTo(), 0)
    await w.send('a', 1, 2)
    await w.outbox.settle({ ...NOTHING, delivered: await w.outbox.pending(10, []) })
    const [, last] = await w.outbox.readAfter(0, 10)
    w.clock.advance(2 * HOUR)
    await w.send('a', 3)
    await w.telemetry.prune(w.clock.now() - HOUR, 100)
    const [kept] = await w.outbox.readAfter(0, 10)
    const removed = await w.outbox.removedUpTo()
    assert.ok(last && kept && last.place <= removed && removed < kept.place)
  })

  test('concurrent requests lose nothing, and the totals of waiting items stay exact', async () => {
    await using w = await world(dialect, { maxPending: 60, ratePerSecond: 1_000 })
    const requests = Array.from({ length: 40 }, (_, index) => w.send(`agent-${index % 7}`, index, index))
    const results = await Promise.allSettled(requests)
    const accepted = results.filter(({ status }) => status === 'fulfilled').length
    assert.equal(accepted, 30)
    assert.partialDeepStrictEqual(await w.telemetry.totals(), { pending: 60, agents: 7 })
    assert.equal((await w.outbox.pending(100, [])).length, 60)
  })
})
