import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Coalescer } from './coalesce.ts'

test('calls that arrive while another one waits continue together with it', async () => {
  const coalescer = new Coalescer({ pauseMs: 1, maxPauses: 8 })
  const continued: string[] = []
  const call = (name: string) => coalescer.join().then(() => continued.push(name))
  const first = call('first')
  const others = [call('second'), call('third')]
  await first
  assert.deepEqual(continued, ['first', 'second', 'third'])
  await Promise.all(others)
})

test('a single call continues too, again and again', async () => {
  const coalescer = new Coalescer({ pauseMs: 1, maxPauses: 8 })
  for (let time = 0; time < 3; time++) await coalescer.join()
})

test('a group continues although more calls keep arriving', async () => {
  const coalescer = new Coalescer({ pauseMs: 1, maxPauses: 2 })
  let isOver = false
  const first = coalescer.join().then(() => (isOver = true))
  const later: Promise<void>[] = []
  while (!isOver) {
    later.push(coalescer.join())
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all([first, ...later])
})
