import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventObject, liveEventOf } from './event-stream.ts'

test('the data of an event is that of its envelope', () => {
  const event = { id: '17', event: 'order.paid', data: '{"data":{"order_id":"a"}}' }
  assert.deepEqual(liveEventOf(event), { subject: 'order.paid', data: { order_id: 'a' } })
})

test('an event without an envelope has no data', () => {
  const event = { id: '17', event: 'reset', data: 'not JSON' }
  assert.deepEqual(liveEventOf(event), { subject: 'reset', data: null })
})

test('an event is about the object whose schema its data has', () => {
  const data = { order_id: 'a' }
  const orderIn = eventObject('Order')
  assert.equal(orderIn({ subject: 'order.paid', data }), data)
  // It has an order_id, too.
  assert.equal(orderIn({ subject: 'payment.paid', data }), null)
  assert.equal(orderIn({ subject: 'reset', data: null }), null)
})
