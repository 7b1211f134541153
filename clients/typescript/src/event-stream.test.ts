import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsIn, StreamParser } from './event-stream.ts'

test('events are complete at the empty line, wherever the stream was cut', () => {
  const parser = new StreamParser()
  const text = 'id: 17\nevent: order.paid\ndata: {"data":{"order_id":"a"}}\n\n'
  const events = Array.from(text).flatMap((character) => [...parser.push(character)])
  assert.deepEqual(events, [{ id: '17', event: 'order.paid', data: '{"data":{"order_id":"a"}}' }])
  assert.equal(parser.lastEventId, '17')
})

test('a comment has no event, but names the place to resume from', () => {
  const parser = new StreamParser('3')
  assert.deepEqual([...parser.push(':\nid: 18-4\n\n:\n\n')], [])
  assert.equal(parser.lastEventId, '18-4')
})

test('an event that a connection has cut off is not joined with the next connection', () => {
  const parser = new StreamParser('3')
  assert.deepEqual([...parser.push('id: 4\nevent: order.paid\n')], [])
  parser.restart()
  assert.deepEqual([...parser.push('data: {}\n\n')], [])
  assert.equal(parser.lastEventId, '3')
})

test('a body that cannot be iterated is read, and is cancelled when the reader leaves', async () => {
  let cancelled = 0
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) =>
      controller.enqueue(new TextEncoder().encode('id: 4\nevent: order.paid\ndata: {}\n\n')),
    cancel: () => void cancelled++,
  })
  Object.defineProperty(body, Symbol.asyncIterator, { value: undefined })
  let reads = 0
  for await (const { id } of eventsIn(body, new StreamParser(), () => reads++)) {
    assert.equal(id, '4')
    break
  }
  assert.deepEqual([reads, cancelled], [1, 1])
})
