import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventStreamParser } from './event-stream.ts'

test('events are complete at the empty line, wherever the stream was cut', () => {
  const parser = new EventStreamParser()
  const text = 'id: 17\nevent: order.paid\ndata: {"data":{"order_id":"a"}}\n\n'
  const events = Array.from(text).flatMap((character) => parser.push(character))
  assert.deepEqual(events, [{ subject: 'order.paid', data: { order_id: 'a' } }])
  assert.equal(parser.lastEventId, '17')
})

test('a comment has no event, but names the place to resume from', () => {
  const parser = new EventStreamParser('3')
  assert.deepEqual(parser.push(':\nid: 18-4\n\n:\n\n'), [])
  assert.equal(parser.lastEventId, '18-4')
})

test('an event without an envelope has no data', () => {
  const parser = new EventStreamParser()
  assert.deepEqual(parser.push('event: reset\ndata: not JSON\n\n'), [{ subject: 'reset', data: null }])
})
