import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, type Occasion, type Reason, TEST_MARKERS } from './gates.ts'
import type { Ticket } from './tickets.ts'

const MINUTE = 60_000
const NOW = Date.UTC(2026, 10, 21, 2)

const FRESH_TICKET: Ticket = {
  id: 't-1',
  status: 'open',
  level: 'critical',
  title: 'Disk full',
  wholeTitle: 'Disk full',
  createdAt: NOW,
  updatedAt: NOW,
  updatedAtText: new Date(NOW).toISOString(),
}

function occasion(ticket: Partial<Ticket> = {}, others: Partial<Occasion> = {}): Occasion {
  return {
    kind: 'new',
    ticket: { ...FRESH_TICKET, ...(ticket.title && { wholeTitle: ticket.title }), ...ticket },
    now: NOW,
    freshMs: 60 * MINUTE,
    budgetLeft: 20,
    ...others,
  }
}

const OLD = NOW - 60 * MINUTE - 1
const change = { kind: 'change' } as const

const CASES: readonly [what: string, occasion: Occasion, verdict: Reason | 'send'][] = [
  ['a fresh critical ticket', occasion(), 'send'],
  ['a fresh high ticket', occasion({ level: 'high' }), 'send'],
  ['a ticket opened at the very edge of the window', occasion({ createdAt: OLD + 1 }), 'send'],
  ['a ticket opened before the window', occasion({ createdAt: OLD }), 'too_old'],
  [
    'an old ticket that was updated just now, but is new to us',
    occasion({ createdAt: OLD, updatedAt: NOW }),
    'too_old',
  ],
  ['a ticket from the future', occasion({ createdAt: NOW + 1e9 }), 'send'],
  ['a ticket without times', occasion({ createdAt: undefined, updatedAt: undefined }), 'send'],
  [
    'a ticket that tells only when it was updated, long ago',
    occasion({ createdAt: undefined, updatedAt: OLD }),
    'too_old',
  ],
  ['a new ticket of a middle level', occasion({ level: 'medium' }), 'level'],
  ['a new ticket for information', occasion({ level: 'info' }), 'level'],
  ['a new ticket without a level', occasion({ level: '' }), 'level'],
  ['a new ticket beyond the budget', occasion({}, { budgetLeft: 0 }), 'budget'],
  ['a change of a ticket for information', occasion({ level: 'info' }, change), 'send'],
  ['a change of a ticket opened long ago', occasion({ createdAt: OLD }, change), 'send'],
  ['a change at the very edge of the window', occasion({ updatedAt: OLD + 1 }, change), 'send'],
  ['a change before the window', occasion({ updatedAt: OLD }, change), 'too_old_transition'],
  ['a change without its time', occasion({ createdAt: OLD, updatedAt: undefined }, change), 'send'],
  ['a change beyond the budget', occasion({}, { ...change, budgetLeft: 0 }), 'budget'],
]

for (const [what, given, verdict] of CASES) {
  test(`${what}: ${verdict}`, () => assert.equal(judge(given), verdict))
}

test('there are eight markers of a test', () => {
  assert.deepEqual(
    [...TEST_MARKERS],
    ['[TK-', '[tk-', 'SELFTEST', 'selftest', '[自测', 'ZZ-', '[TEST', '验收'],
  )
})

for (const marker of TEST_MARKERS) {
  test(`a title with ${marker} anywhere in it is a test, new or changed`, () => {
    for (const title of [marker, `${marker}12] x`, `before ${marker} after`]) {
      assert.equal(judge(occasion({ title })), 'test')
      assert.equal(judge(occasion({ title }, change)), 'test')
    }
  })
}

test('a mark is found in a title that is too long to be shown', () => {
  assert.equal(judge(occasion({ title: 'Disk …', wholeTitle: 'Disk full SELFTEST' })), 'test')
})

test('a title that only resembles a marker is none', () => {
  for (const title of ['TK-1', '[Tk-1]', 'SelfTest', '自测', 'zz-1', 'TEST', '[test]', '验 收']) {
    assert.equal(judge(occasion({ title })), 'send')
  }
})

test('the gates are asked in the order freshness, level, test, budget', () => {
  const flaws: readonly [reason: Reason, ticket: Partial<Ticket>, others: Partial<Occasion>][] = [
    ['too_old', { createdAt: OLD, updatedAt: OLD }, {}],
    ['level', { level: 'low' }, {}],
    ['test', { title: 'ZZ-1' }, {}],
    ['budget', {}, { budgetLeft: 0 }],
  ]
  // A ticket with all flaws from the n-th on is held back by the n-th.
  for (const [index, [reason]] of flaws.entries()) {
    const rest = flaws.slice(index)
    const ticket = Object.assign({}, ...rest.map(([, each]) => each)) as Partial<Ticket>
    const others = Object.assign({}, ...rest.map(([, , each]) => each)) as Partial<Occasion>
    assert.equal(judge(occasion(ticket, others)), reason)
    const ofChange = { too_old: 'too_old_transition', level: 'test', test: 'test', budget: 'budget' } as const
    assert.equal(judge(occasion(ticket, { ...others, ...change })), ofChange[reason as keyof typeof ofChange])
  }
})
