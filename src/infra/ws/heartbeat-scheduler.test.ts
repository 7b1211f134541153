import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { HeartbeatScheduler } from './heartbeat-scheduler.ts'

const INTERVAL_MS = 30_000

function schedulerOf(members: number, intervalMs = INTERVAL_MS) {
  const clock = fakeClock()
  const beats: { member: number; at: number }[] = []
  const scheduler = new HeartbeatScheduler<number>({
    clock,
    intervalMs,
    beat: (member, at) => beats.push({ member, at }),
  })
  for (let member = 0; member < members; member++) scheduler.add(member)
  /** Ticks as often as a timer would. */
  const run = (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += scheduler.slotMs) {
      clock.advance(scheduler.slotMs)
      scheduler.tick()
    }
  }
  return { clock, scheduler, beats, run }
}

test('every member gets one heartbeat per interval, one interval apart', () => {
  const { beats, run } = schedulerOf(1_000)
  run(3 * INTERVAL_MS)
  const times = Map.groupBy(beats, ({ member }) => member)
  assert.equal(times.size, 1_000)
  for (const each of times.values()) {
    const [first = { at: 0 }, second = { at: 0 }, third = { at: 0 }] = each
    assert.deepEqual([each.length, second.at - first.at, third.at - second.at], [3, INTERVAL_MS, INTERVAL_MS])
  }
})

test('members that are added at the same time are spread over the interval', () => {
  const { beats, run } = schedulerOf(5_000)
  run(INTERVAL_MS)
  const sizes = [...Map.groupBy(beats, ({ at }) => at).values()].map((each) => each.length)
  assert.equal(sizes.length, 300)
  assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1)
})

test('after a pause each member gets one heartbeat, not one for every interval missed', () => {
  const { clock, scheduler, beats, run } = schedulerOf(10)
  run(INTERVAL_MS)
  beats.length = 0
  clock.advance(5 * INTERVAL_MS)
  scheduler.tick()
  assert.equal(beats.length, 10)
  assert.equal(new Set(beats.map(({ member }) => member)).size, 10)
})

test('a late tick catches up on the slots that it missed', () => {
  const { clock, scheduler, beats } = schedulerOf(300)
  clock.advance(INTERVAL_MS / 2)
  scheduler.tick()
  clock.advance(INTERVAL_MS / 2)
  scheduler.tick()
  assert.equal(new Set(beats.map(({ member }) => member)).size, 300)
  assert.equal(beats.length, 300)
})

test('a removed member gets no more heartbeats, the others do', () => {
  const { scheduler, beats, run } = schedulerOf(3)
  scheduler.remove(1)
  run(INTERVAL_MS)
  assert.deepEqual(new Set(beats.map(({ member }) => member)), new Set([0, 2]))
})

for (const intervalMs of [1, 40, 100, 24 * 86_400_000]) {
  test(`an interval of ${intervalMs} ms works`, () => {
    const { scheduler, beats, run } = schedulerOf(2, intervalMs)
    assert.ok(scheduler.slotMs > 0)
    run(intervalMs)
    assert.equal(new Set(beats.map(({ member }) => member)).size, 2)
  })
}
