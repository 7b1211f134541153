import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { waitFor } from '../../clients/typescript/src/timing.ts'
import { eventually } from '../../test/support/eventually.ts'
import { LiveEvents, type LiveDeps, type LiveListener } from './live.ts'

const streamOf = (text: string) => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
const EVENT = 'id: 17\nevent: order.paid\ndata: {"data":{"order_id":"a"}}\n\n'

/** As in the browsers of WebKit. */
function withoutIterator(response: Response): Response {
  Object.defineProperty(response.body, Symbol.asyncIterator, { value: undefined })
  return response
}

/** Answers one after the other; stops after the last one. */
function followed(answers: readonly (() => Response)[], first?: LiveListener) {
  const stopped = new AbortController()
  const sent: (string | null)[] = []
  const seen: string[] = []
  const states: string[] = []
  let place = 0
  const fetch: LiveDeps['fetch'] = async (_, { headers }) => {
    sent.push(new Headers(headers).get('last-event-id'))
    const answer = answers[place++]
    if (place === answers.length) stopped.abort()
    if (!answer) throw new TypeError('failed')
    return answer()
  }
  const pauses: number[] = []
  const live = new LiveEvents({
    fetch,
    wait: async (ms) => {
      pauses.push(ms)
      states.push(live.state.peek())
    },
    onRefused: (token) => void seen.push(`refused ${token}`),
    onError: (error) => void seen.push(String(error)),
  })
  if (first) live.subscribe(first)
  live.subscribe({
    prefix: 'order.',
    onEvent: ({ subject }) => void seen.push(subject),
    onGap: () => void seen.push('gap'),
    onReturn: () => void seen.push('return'),
  })
  return { sent, seen, states, pauses, live, end: live.follow('abc', stopped.signal) }
}

test('a stream that breaks is resumed behind its last event', async () => {
  const { sent, seen, states, end } = followed([() => streamOf(EVENT), () => streamOf(EVENT)])
  await end
  assert.deepEqual(sent, [null, '17'])
  assert.deepEqual(seen, ['order.paid', 'return', 'order.paid'])
  assert.deepEqual(states, ['broken'])
})

test('a stream is read where a browser cannot iterate over it', async () => {
  const { seen, end } = followed([() => withoutIterator(streamOf(EVENT)), () => streamOf('')])
  await end
  assert.equal(seen[0], 'order.paid')
})

test('streams that open without a byte are tried again after longer and longer pauses', async () => {
  const empty = () => streamOf('')
  const { pauses, end } = followed([empty, empty, () => streamOf(EVENT), empty, empty])
  await end
  assert.deepEqual(pauses, [2_000, 4_000, 2_000, 4_000])
})

test('a reset, and a stream that could not be resumed, are gaps', async () => {
  const lost = () => new Response('', { status: 503 })
  const { seen, end } = followed([lost, () => streamOf('id: 5\nevent: reset\ndata: {}\n\n')])
  await end
  assert.deepEqual(seen, ['gap', 'gap'])
})

test('an error of one listener keeps nothing from the others', async () => {
  const fail = () => {
    throw new Error('broken')
  }
  const broken = { prefix: '', onEvent: fail, onGap: fail, onReturn: fail }
  const reset = () => streamOf('id: 5\nevent: reset\ndata: {}\n\n')
  const { seen, sent, end } = followed([() => streamOf(EVENT + EVENT), reset], broken)
  await end
  assert.deepEqual(
    seen.filter((each) => each !== 'Error: broken'),
    ['order.paid', 'order.paid', 'return', 'gap'],
  )
  assert.equal(seen.filter((each) => each === 'Error: broken').length, 4)
  assert.equal(sent.length, 2)
})

test('a refused token ends it; a role that may read no events turns it off', async () => {
  const refused = followed([() => new Response('', { status: 401 }), () => streamOf('')])
  await refused.end
  assert.deepEqual(refused.seen, ['refused abc'])
  const forbidden = followed([() => new Response('', { status: 403 }), () => streamOf('')])
  await forbidden.end
  assert.equal(forbidden.live.state.peek(), 'off')
  assert.equal(forbidden.sent.length, 1)
})

test('a paused stream has no connection, and is resumed behind its last event', async () => {
  const stopped = new AbortController()
  const sent: (string | null)[] = []
  const open = new Set<AbortSignal>()
  const fetch: LiveDeps['fetch'] = async (_, { headers, signal }) => {
    signal?.throwIfAborted()
    sent.push(new Headers(headers).get('last-event-id'))
    if (signal) open.add(signal)
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(EVENT))
        signal?.addEventListener('abort', () => {
          open.delete(signal)
          controller.error(signal.reason)
        })
      },
    })
    return new Response(body)
  }
  const live = new LiveEvents({
    fetch,
    wait: waitFor,
    onRefused: () => undefined,
    onError: (error) => assert.fail(String(error)),
  })
  live.pause()
  const end = live.follow('abc', stopped.signal)
  await setImmediate()
  assert.deepEqual(sent, [])
  live.resume()
  const untilLive = () => eventually('it is live', () => live.state.peek() === 'live')
  await untilLive()
  live.pause()
  await eventually('it is closed', () => open.size === 0 && live.state.peek() === 'connecting')
  live.resume()
  await untilLive()
  assert.deepEqual(sent, [null, '17'])
  stopped.abort()
  await end
})

test('with another token everything is read again, also by a role that may read no events', async () => {
  for (const [status, expected] of [
    [200, ['order.paid', 'gap']],
    [403, ['gap']],
  ] as const) {
    const answer = () => (status === 200 ? streamOf(EVENT) : new Response('', { status }))
    const seen: string[] = []
    const stops: AbortController[] = []
    const live = new LiveEvents({
      fetch: async () => answer(),
      wait: async () => stops.at(-1)?.abort(),
      onRefused: () => undefined,
      onError: (error) => assert.fail(String(error)),
    })
    live.subscribe({
      prefix: 'order.',
      onEvent: ({ subject }) => void seen.push(subject),
      onGap: () => void seen.push('gap'),
      onReturn: () => undefined,
    })
    for (const token of ['first', 'second']) {
      const stopped = new AbortController()
      stops.push(stopped)
      await live.follow(token, stopped.signal)
      if (token === 'first') assert.ok(!seen.includes('gap'))
    }
    assert.deepEqual(seen.slice(0, expected.length), expected)
  }
})
