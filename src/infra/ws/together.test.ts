import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTogether } from './together.ts'

test('those who come while one waits go on with it', async () => {
  const together = createTogether({ pauseMs: 1, pauses: 8 })
  const gone: string[] = []
  const go = (name: string) => together().then(() => gone.push(name))
  const first = go('first')
  const others = [go('second'), go('third')]
  await first
  assert.deepEqual(gone, ['first', 'second', 'third'])
  await Promise.all(others)
})

test('whoever comes alone goes on too, again and again', async () => {
  const together = createTogether({ pauseMs: 1, pauses: 8 })
  for (let time = 0; time < 3; time++) await together()
})

test('a crowd that never ends is not waited for', async () => {
  const together = createTogether({ pauseMs: 1, pauses: 2 })
  let isOver = false
  const first = together().then(() => (isOver = true))
  const crowd: Promise<void>[] = []
  while (!isOver) {
    crowd.push(together())
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all([first, ...crowd])
})
