import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { testStore } from '../../../test/support/store.ts'
import { DAY, HOUR, MINUTE } from '../../kernel/time.ts'
import { EndedTokens, endToken } from './ended-tokens.ts'

async function world() {
  const clock = fakeClock()
  const opened = await testStore('sqlite', clock)
  const { store } = opened
  return {
    clock,
    /** The tokens as a process knows them. */
    open: () => new EndedTokens(store.read, clock),
    /** In another process; it would have expired a day later. */
    end: (tokenId: string) =>
      store.write((tx) => endToken(tx, { tokenId, endedAt: clock.now(), expiresAt: clock.now() + DAY })),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

test('a token that was ended after the clock was set back is ended for a process that looks much later', async () => {
  await using w = await world()
  const ended = w.open()
  await ended.refresh()
  w.clock.jump(-8 * HOUR)
  await w.end('a')
  w.clock.advance(10 * MINUTE)
  await ended.refresh()
  assert.ok(ended.has('a'))
})

test('a clock that was ahead for a while revives no token', async () => {
  await using w = await world()
  const ended = w.open()
  await w.end('a')
  await ended.refresh()
  w.clock.jump(DAY + HOUR)
  await w.end('b')
  await ended.refresh()
  w.clock.jump(-DAY - HOUR)
  for (const process of [ended, w.open()]) {
    await process.refresh()
    assert.ok(process.has('a'))
  }
})
