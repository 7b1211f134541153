import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { pauseAfter, startPolling, type PollNews, type Reading } from './poll.ts'

const ANSWER: Reading<number> = { kind: 'answer', value: 1 }
const FAILED: Reading<number> = { kind: 'failed', reason: 'away' }

/** A page whose wait the test ends. */
function world(readings: Reading<number>[]) {
  const reported: PollNews<number>[] = []
  const waits: number[] = []
  const state = { isHidden: false, reads: 0 }
  let go: (() => void) | undefined
  const held = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      go = resolve
      signal.addEventListener('abort', () => resolve())
    })
  const polling = startPolling<number>({
    read: async () => {
      state.reads += 1
      return readings.shift() ?? ANSWER
    },
    onNews: (news) => reported.push(news),
    wait: (ms, signal) => {
      waits.push(ms)
      return held(signal)
    },
    isHidden: () => state.isHidden,
    untilVisible: held,
  })
  const settle = async () => {
    for (let turns = 0; turns < 5; turns += 1) await turn()
  }
  const proceed = async () => {
    go?.()
    await settle()
  }
  return { polling, reported, waits, state, settle, proceed }
}

test('it reads at once, and again every two seconds', async () => {
  const { reported, waits, settle, proceed, polling } = world([])
  await settle()
  assert.deepEqual(reported, [ANSWER])
  await proceed()
  assert.deepEqual(reported, [ANSWER, ANSWER])
  assert.deepEqual(waits, [2_000, 2_000])
  polling.stop()
})

test('failures make the pauses longer, an answer makes them short again', async () => {
  const { reported, waits, settle, proceed, polling } = world([FAILED, FAILED, ANSWER])
  await settle()
  await proceed()
  await proceed()
  assert.deepEqual(waits, [4_000, 8_000, 2_000])
  assert.deepEqual(reported[1], { kind: 'waiting', reason: 'away', failures: 2, retryInMs: 8_000 })
  polling.stop()
})

test('no pause is longer than half a minute', () => {
  assert.equal(pauseAfter(3), 16_000)
  assert.equal(pauseAfter(4), 30_000)
  assert.equal(pauseAfter(2_000), 30_000)
})

test('who does not want to wait is answered at once', async () => {
  const { polling, state, settle } = world([FAILED])
  await settle()
  polling.readNow()
  await settle()
  assert.equal(state.reads, 2)
  polling.stop()
})

test('a refusal is the end', async () => {
  const { reported, waits, settle } = world([{ kind: 'refused', status: 401, message: 'no' }])
  await settle()
  assert.equal(reported[0]?.kind, 'refused')
  assert.deepEqual(waits, [])
})

test('nothing is read while the page is hidden', async () => {
  const { reported, state, settle, proceed, polling } = world([])
  await settle()
  state.isHidden = true
  await proceed()
  assert.equal(state.reads, 1)
  assert.deepEqual(reported.at(-1), { kind: 'paused' })
  state.isHidden = false
  await proceed()
  assert.equal(state.reads, 2)
  polling.stop()
})

test('once stopped it says nothing more', async () => {
  const { reported, state, settle, polling } = world([])
  await settle()
  polling.stop()
  await settle()
  assert.equal(state.reads, 1)
  assert.deepEqual(reported, [ANSWER])
})
