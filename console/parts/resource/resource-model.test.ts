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

test('the answer of a change is not replaced by that of a reading which began before it', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<string>()
  const answers = [answered, new Promise<string>(() => {})]
  const model = new ResourceModel(async () => {
    return { ok: true as const, value: (await answers.shift()) ?? '', etag: '"1"' }
  })
  const reading = model.refresh()
  model.show({ ok: true, value: 'changed', etag: '"2"' })
  answer('as it was')
  await reading
  assert.deepEqual([model.value.value, model.etag], ['changed', '"2"'])
  assert.equal(answers.length, 0, 'it is read again')
})

test('a slow reading is not given up for an event, and another one follows it', async () => {
  const answers: ((value: number) => void)[] = []
  const model = new ResourceModel(async (signal) => {
    const value = await new Promise<number>((resolve) => answers.push(resolve))
    assert.equal(signal.aborted, false)
    return { ok: true as const, value, etag: null }
  })
  const reading = model.refresh()
  model.refreshAfter(0)
  model.refreshAfter(0)
  assert.equal(answers.length, 1)
  answers[0]?.(1)
  await new Promise(setImmediate)
  assert.deepEqual([model.value.value, answers.length], [1, 2])
  answers[1]?.(2)
  await reading
  assert.equal(model.value.value, 2)
})
