import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { SilenceWatch, type WatchedRun } from './silence.ts'

const run = (runId: string, lastSeenAt: number, heartbeatMs = 30_000): WatchedRun => ({
  runId,
  name: runId,
  heartbeatMs,
  lastSeenAt,
})

function watching() {
  const clock = fakeClock()
  const watch = new SilenceWatch(clock)
  const look = (...runs: WatchedRun[]) => watch.findSilent(runs).map(({ runId }) => runId)
  return { clock, look }
}

test('who watches counts from its own first look, whatever time the sign of life bears', () => {
  for (const lastSeenAt of [0, Date.UTC(2026, 0, 31), Date.UTC(2099, 0)]) {
    const { clock, look } = watching()
    assert.deepEqual(look(run('a', lastSeenAt)), [])
    clock.advance(89_999)
    assert.deepEqual(look(run('a', lastSeenAt)), [])
    clock.advance(1)
    assert.deepEqual(look(run('a', lastSeenAt)), ['a'])
  }
})

test('any other sign of life is one, an earlier one too', () => {
  const { clock, look } = watching()
  look(run('a', 5_000))
  clock.advance(90_000)
  assert.deepEqual(look(run('a', 4_000)), [])
  clock.advance(90_000)
  assert.deepEqual(look(run('a', 4_000)), ['a'])
})

test('each run is judged by its own interval', () => {
  const { clock, look } = watching()
  const runs = [run('quick', 1, 5_000), run('calm', 1, 60_000)]
  look(...runs)
  clock.advance(15_000)
  assert.deepEqual(look(...runs), ['quick'])
})

test('a run that was away from the list is watched anew', () => {
  const { clock, look } = watching()
  look(run('a', 1))
  look()
  clock.advance(90_000)
  assert.deepEqual(look(run('a', 1)), [])
})
