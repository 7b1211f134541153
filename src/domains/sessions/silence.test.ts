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

test('a run is silent three intervals after its heartbeat was first read, whatever time the heartbeat has', () => {
  for (const lastSeenAt of [0, Date.UTC(2026, 0, 31), Date.UTC(2099, 0)]) {
    const { clock, look } = watching()
    assert.deepEqual(look(run('a', lastSeenAt)), [])
    clock.advance(89_999)
    assert.deepEqual(look(run('a', lastSeenAt)), [])
    clock.advance(1)
    assert.deepEqual(look(run('a', lastSeenAt)), ['a'])
  }
})

test('a heartbeat with a different time counts as new, also with an earlier time', () => {
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

test('a run that was missing from the list starts with a new interval', () => {
  const { clock, look } = watching()
  look(run('a', 1))
  look()
  clock.advance(90_000)
  assert.deepEqual(look(run('a', 1)), [])
})
