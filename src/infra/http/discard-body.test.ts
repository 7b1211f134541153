import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as nextLoop } from 'node:timers/promises'
import { waitUntilDiscarded } from './discard-body.ts'

const CHUNK = Buffer.alloc(65_536)
const MIB = 1_048_576

function endlessBody() {
  const body = new Readable({
    highWaterMark: CHUNK.length,
    read() {
      given.bytes += CHUNK.length
      this.push(CHUNK)
    },
  })
  const given = { bytes: 0, body }
  return given
}

const WITH_HEAD = { flushHeaders: () => undefined }

test('the head of an answer without a body is sent before the rest of the request is read', async () => {
  const { promise: isSent, resolve: flushHeaders } = Promise.withResolvers<void>()
  const unread = new Readable({ read: () => undefined })
  const answer = waitUntilDiscarded([], unread, { flushHeaders })
  answer.resume()
  await isSent
  assert.equal(answer.readableEnded, false)
  unread.destroy()
  await once(answer, 'close')
})

test('a client that goes on sending after its answer is read a piece in each turn', async () => {
  const sent = endlessBody()
  const turns: (() => void)[] = []
  const answer = waitUntilDiscarded(
    ['answer'],
    sent.body,
    WITH_HEAD,
    () => new Promise<void>((resolve) => turns.push(resolve)),
  )
  answer.setEncoding('utf8')
  assert.equal((await answer[Symbol.asyncIterator]().next()).value, 'answer')
  for (let taken = 1; taken <= 10; taken++) {
    for (let loop = 0; loop < 5; loop++) await nextLoop()
    assert.equal(turns.length, taken)
    // One was taken, and the stream has read ahead.
    assert.ok(sent.bytes <= (taken + 2) * CHUNK.length, `${sent.bytes} bytes`)
    turns.at(-1)?.()
  }
  answer.destroy()
})

test('no more than 8 MiB are read after an answer', async () => {
  const sent = endlessBody()
  assert.equal(
    (await waitUntilDiscarded(['answer'], sent.body, WITH_HEAD, async () => undefined).toArray()).join(''),
    'answer',
  )
  assert.ok(sent.bytes <= 8 * MIB + 3 * CHUNK.length, `${sent.bytes} bytes`)
})
