import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { ResourceModel } from './resource-model.ts'

test('an object that changes all the time is read again once in a pause', async (t) => {
  const read = mock.fn(async () => ({ ok: true as const, value: 1, etag: null }))
  const model = new ResourceModel(read)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  for (let event = 0; event < 100; event++) model.refreshAfter(1_000)
  assert.equal(read.mock.callCount(), 0)
  t.mock.timers.tick(1_000)
  assert.equal(read.mock.callCount(), 1)
  model.refreshAfter(1_000)
  model.stop()
  t.mock.timers.tick(1_000)
  assert.equal(read.mock.callCount(), 1)
})
