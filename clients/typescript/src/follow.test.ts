import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { answerJson, resetConnection, type ScriptedAnswer } from '../../../test/support/scripted-api.ts'
import { clientWorld, type ClientWorld } from '../../../test/support/typed-client.ts'

const UNAVAILABLE = answerJson(503, { code: 'too_many_streams', message: 'Full.' }, { 'retry-after': '5' })
const HEAD = { 'content-type': 'text/event-stream' }

function eventText(id: number, subject = 'order.paid'): string {
  return `id: ${id}\nevent: ${subject}\ndata: {"type":"${subject}","data":{"order_id":"o-${id}"}}\n\n`
}

/** Sends the text and ends the stream in an orderly way. */
function endAfter(text: string): ScriptedAnswer {
  return (response) => void response.writeHead(200, HEAD).end(text)
}

/** Sends the text and destroys the connection. */
function breakAfter(text: string): ScriptedAnswer {
  return (response) => void response.writeHead(200, HEAD).write(text, () => response.destroy())
}

/** Sends the text and keeps the stream open. */
function stayAfter(text: string): ScriptedAnswer {
  return (response) => void response.writeHead(200, HEAD).write(text)
}

/** The ids of the first events. */
async function firstIds({ client }: ClientWorld, count: number): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of client.events({ subjects: ['order.*', 'alert.raised'] })) {
    if (ids.push(id) === count) break
  }
  return ids
}

function resumedFrom({ api }: ClientWorld) {
  return api.requests.map(({ headers }) => headers['last-event-id'])
}

describe('the live stream', () => {
  test('has each event with its subject and its envelope', async () => {
    await using world = await clientWorld([stayAfter(`:\nid: 3\n\n${eventText(4)}`)])
    for await (const event of world.client.events({ subjects: ['order.*'], lastEventId: '2' })) {
      const envelope = { type: 'order.paid', data: { order_id: 'o-4' } }
      assert.deepEqual(event, { kind: 'event', id: '4', subject: 'order.paid', envelope })
      break
    }
    assert.equal(world.api.requests[0]?.url, '/events?subjects=order.*')
    assert.deepEqual(resumedFrom(world), ['2'])
  })

  const BREAKS = [
    ['ends', endAfter(eventText(1))],
    ['breaks', breakAfter(eventText(1))],
    ['breaks in the middle of an event', breakAfter(`${eventText(1)}id: 2\nevent: order.paid\nda`)],
  ] as const
  for (const [what, answer] of BREAKS) {
    test(`is resumed behind its last event when its connection ${what}`, async () => {
      await using world = await clientWorld([answer, stayAfter(eventText(2))])
      assert.deepEqual(await firstIds(world, 2), ['1', '2'])
      assert.deepEqual(resumedFrom(world), [undefined, '1'])
      assert.deepEqual(world.pauses, [200])
    })
  }

  test('is resumed from the place of a comment', async () => {
    await using world = await clientWorld([endAfter(':\nid: 17-4\n\n'), stayAfter(eventText(18))])
    assert.deepEqual(await firstIds(world, 1), ['18'])
    assert.deepEqual(resumedFrom(world), [undefined, '17-4'])
  })

  test('is tried again with growing pauses and after Retry-After, until it is open', async () => {
    await using world = await clientWorld([
      resetConnection,
      resetConnection,
      UNAVAILABLE,
      stayAfter(eventText(1)),
    ])
    assert.deepEqual(await firstIds(world, 1), ['1'])
    assert.deepEqual(world.pauses, [200, 400, 5_800])
  })

  test('reports each interruption', async () => {
    await using world = await clientWorld([UNAVAILABLE, endAfter(eventText(1)), stayAfter(eventText(2))])
    const codes: (string | undefined)[] = []
    const onInterruption = (error: { readonly code: string } | undefined) => void codes.push(error?.code)
    for await (const { id } of world.client.events({ onInterruption })) if (id === '2') break
    assert.deepEqual(codes, ['too_many_streams', undefined])
  })

  test('reports missed events as a reset', async () => {
    await using world = await clientWorld([stayAfter(eventText(9, 'reset'))])
    for await (const event of world.client.events()) {
      assert.deepEqual(event, { kind: 'reset', id: '9' })
      break
    }
  })

  test('asks for another token once after a refused one, and again after it was open', async () => {
    const refused = answerJson(401, { code: 'unauthenticated', message: 'The token has expired.' })
    const token = () => 'a-token'
    await using world = await clientWorld(
      [refused, endAfter(eventText(1)), refused, stayAfter(eventText(2))],
      {
        token,
      },
    )
    assert.deepEqual(await firstIds(world, 2), ['1', '2'])
    await using stopped = await clientWorld([refused], { token })
    await assert.rejects(firstIds(stopped, 1), { status: 401 })
    assert.equal(stopped.api.requests.length, 2)
  })

  test('ends with an error that stays', async () => {
    await using world = await clientWorld([answerJson(403, { code: 'forbidden', message: 'No.' })])
    await assert.rejects(firstIds(world, 1), { code: 'forbidden', operation: 'streamEvents' })
    assert.equal(world.api.requests.length, 1)
  })

  test('ends with the reason of its signal, also while it waits for an event', async () => {
    await using world = await clientWorld([stayAfter(eventText(1))])
    const abort = new AbortController()
    const reason = new Error('enough')
    const reading = async () => {
      for await (const _ of world.client.events({ signal: abort.signal })) abort.abort(reason)
    }
    await assert.rejects(reading(), reason)
  })
})

test('any stream of the API can be followed', async () => {
  await using world = await clientWorld([stayAfter('id: 5\nevent: output\ndata: {"text":"hello"}\n\n')])
  for await (const event of world.client.follow('followExecutionOutput', { path: { id: 'x' } })) {
    assert.deepEqual(event, { id: '5', event: 'output', data: '{"text":"hello"}' })
    break
  }
  assert.equal(world.api.requests[0]?.url, '/commands/executions/x/output')
})
