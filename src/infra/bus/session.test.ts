import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Msg, PublishOptions, Status } from '@nats-io/transport-node'
import type { BusMessage } from '../../kernel/bus.ts'
import { SECOND } from '../../kernel/time.ts'
import { BusSession } from './session.ts'

const messageOf = (id: string): BusMessage => ({ id, subject: 'order.created', payload: id, headers: {} })

/** A session on a server that takes what is sent, and acknowledges it, when the test says so. */
function openSession(t: TestContext, confirmation: 'acknowledgement' | 'flush') {
  const replies: string[] = []
  const sent: string[] = []
  const headers: Record<string, string>[] = []
  const flushes: (() => void)[] = []
  let receive: (error: Error | null, answer: Msg) => void = () => undefined
  const closed = Promise.withResolvers<void>()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const session = new BusSession(
    {
      publish(_subject, payload, options?: PublishOptions) {
        sent.push(String(payload))
        headers.push(
          Object.fromEntries([...(options?.headers ?? [])].map(([name, [value = '']]) => [name, value])),
        )
        replies.push(options?.reply ?? '')
      },
      flush: () => new Promise((resolve) => flushes.push(resolve)),
      subscribe(_subject, options) {
        receive = options.callback as typeof receive
      },
      async *status(): AsyncIterable<Status> {},
      closed: () => closed.promise,
      close: async () => closed.resolve(),
    },
    {
      problem: undefined,
      streamMadeAt: undefined,
      unstoredSince: undefined,
      refresh: async () => {},
      confirmationOf: () => confirmation,
      invalidate() {},
      replaceLeader: async () => {},
    },
    false,
  )
  t.after(() => session.close(0))
  return {
    session,
    sent,
    headers,
    /** The server has taken all that was sent. */
    async take() {
      flushes.shift()?.()
      await nextTurn()
      await nextTurn()
    },
    async acknowledge(index: number) {
      const data = Buffer.from('{"stream":"S","seq":1}')
      const answer: Pick<Msg, 'subject' | 'data' | 'json'> = {
        subject: replies[index] ?? '',
        data,
        json: <T>() => JSON.parse(data.toString()) as T,
      }
      receive(null, answer as Msg)
      await nextTurn()
    },
    async advance(seconds: number) {
      t.mock.timers.tick(seconds * SECOND)
      await nextTurn()
    },
  }
}

test('a message has its own trace if that is valid, else the one of its request', async (t) => {
  const { session, headers, take } = openSession(t, 'flush')
  const [own, other] = ['1', '2'].map((digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`)
  const traceHeaders = { traceparent: other ?? '', tracestate: 'of=request' }
  const given = [
    {},
    { TraceParent: own ?? '', Tracestate: 'its=own' },
    { traceparent: 'garbage', tracestate: 'its=own' },
    { tracestate: 'its=own' },
  ]
  const result = session.publish(
    given.map((each, index) => ({ ...messageOf(String(index)), headers: each, traceHeaders })),
  )
  await nextTurn()
  await take()
  await result
  assert.deepEqual(
    headers.map(({ traceparent, tracestate }) => [traceparent, tracestate]),
    [
      [other, 'of=request'],
      [own, 'its=own'],
      [other, 'of=request'],
      [other, 'of=request'],
    ],
  )
  assert.ok(headers.every((each) => Object.keys(each).length === 3))
})

test('a batch is sent when the server has taken the one before', async (t) => {
  const { session, sent, take } = openSession(t, 'flush')
  const results = [session.publish([messageOf('a'), messageOf('b')]), session.publish([messageOf('c')])]
  await nextTurn()
  assert.deepEqual(sent, ['a', 'b'])
  await take()
  assert.deepEqual(sent, ['a', 'b', 'c'])
  await take()
  const outcomes = (await Promise.all(results)).flat().map(({ outcome }) => outcome)
  assert.deepEqual(outcomes, ['delivered', 'delivered', 'delivered'])
})

for (const confirmation of ['acknowledgement', 'flush'] as const)
  test(`a message that is on its way for minutes has not failed (${confirmation})`, async (t) => {
    const { session, take, acknowledge, advance } = openSession(t, confirmation)
    let isSettled = false
    const result = session.publish([messageOf('a')]).finally(() => (isSettled = true))
    await nextTurn()
    for (let second = 0; second < 120; second++) await advance(1)
    assert.equal(isSettled, false)
    await take()
    await acknowledge(0)
    assert.deepEqual(await result, [{ outcome: 'delivered' }])
  })

test('a batch waits while its messages are acknowledged, and its rest fails after 5 seconds without', async (t) => {
  const { session, take, acknowledge, advance } = openSession(t, 'acknowledgement')
  const result = session.publish([messageOf('a'), messageOf('b'), messageOf('c'), messageOf('d')])
  await nextTurn()
  await take()
  await advance(4)
  await acknowledge(0)
  await advance(4)
  await acknowledge(1)
  await advance(3)
  await acknowledge(2)
  await advance(5)
  await advance(5)
  assert.deepEqual(
    (await result).map(({ outcome }) => outcome),
    ['delivered', 'delivered', 'delivered', 'failed'],
  )
})
