import assert from 'node:assert/strict'
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { notifierWorld } from '../support/notifier.ts'
import { ticket } from '../support/ticket-api.ts'

const SOURCE = join(import.meta.dirname, '../../programs/ticket-notify/ticket-notify.ts')

/** kill -9 when the process does this for the n-th time. Some machines know `link` as `linkat`, and so on. */
const killAt = (call: string, n: number) =>
  [
    'strace',
    '-qq',
    '-o',
    '/dev/null',
    '-e',
    `trace=/^${call}`,
    '-e',
    `inject=/^${call}:signal=SIGKILL:when=${n}`,
    process.execPath,
    SOURCE,
  ] as const

/**
 * A round with one suppressed ticket and two notifications writes six times: the digest record, the snapshot before the
 * first send and after each send, the rate limit before each send. Each file is flushed before its renaming, and its
 * directory after it. One link makes the lock; the others keep the replaced snapshot as the next temporary file, and so
 * do two of the renamings.
 */
const CALLS = [
  { call: 'fsync', fewest: 10, most: 18 },
  { call: 'link', fewest: 3, most: 6 },
  { call: 'rename', fewest: 7, most: 14 },
] as const

describe('kill -9 at any write of a round', { concurrency: 2 }, () => {
  // Each test runs about thirty processes, one after the other.
  const timeout = 600_000
  for (const each of CALLS) test(`at each ${each.call}`, { timeout }, () => killAtEach(each))
})

/** The tickets of the killed round: two are sent, one is suppressed. */
const LISTED: Readonly<Record<string, { readonly status: string; readonly level?: string }>> = {
  changed: { status: 'closed' },
  low: { status: 'open', level: 'low' },
  fresh: { status: 'open' },
}

async function killAtEach({ call, fewest, most }: (typeof CALLS)[number]): Promise<void> {
  await using w = await notifierWorld()
  w.configure(['robot'])
  w.api.tickets = [ticket('changed')]
  assert.equal((await w.run()).code, 0)
  const stateDirectory = dirname(w.stateFile)
  const before = join(w.directory, 'before')
  cpSync(stateDirectory, before, { recursive: true })
  const remembered = w.state()
  w.api.tickets = Object.entries(LISTED).map(([id, fields]) => ticket(id, fields))

  for (let n = 1; ; n++) {
    assert.ok(n <= most, `a round makes more than ${most} calls of ${call}: adjust CALLS if that is intended`)
    rmSync(stateDirectory, { recursive: true })
    cpSync(before, stateDirectory, { recursive: true })
    const from = w.robots.shown.length
    const killed = await w.run([], { command: killAt(call, n) })
    // It ended before the n-th call.
    if (killed.done) {
      assert.ok(n > fewest, `a round makes only ${n - 1} calls of ${call}: adjust CALLS if that is intended`)
      return
    }
    const afterKill = w.state()
    for (const [id, { status }] of Object.entries(afterKill)) {
      const possible = [remembered[id]?.status, LISTED[id]?.status]
      assert.ok(possible.includes(status), `${call} ${n}: ${id} is neither old nor new`)
    }
    const next = await w.run()
    assert.equal(next.code, 0, next.stderr)
    const state = w.state()
    assert.deepEqual(
      [state['changed']?.status, state['fresh']?.status, state['low']?.status],
      ['closed', 'open', 'open'],
    )
    const sent = w.robots.shown.slice(from).map((text) => /^Ticket: (\w+)$/m.exec(text)?.[1])
    assert.deepEqual(new Set(sent), new Set(['changed', 'fresh']), `${call} ${n}: both are sent`)
    assert.ok(sent.length <= 3, `${call} ${n}: at most one is sent twice, not ${sent.join(' ')}`)
    const isLowRecorded = existsSync(`${w.stateFile}.digest`)
    assert.ok(isLowRecorded, `${call} ${n}: the suppressed ticket is in the digest record`)
    const leftovers = readdirSync(stateDirectory).filter((name) => /corrupt|lock/.test(name))
    // A .tmp file may be left: the next write of its file removes it.
    assert.deepEqual(leftovers, [], `${call} ${n}`)
  }
}
