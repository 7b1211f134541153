import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyGates, type Candidate, type Reason, TEST_MARKERS } from './gates.ts'
import type { Ticket } from './tickets.ts'

const MINUTE = 60_000
const NOW = Date.UTC(2026, 10, 21, 2)

const FRESH_TICKET: Ticket = {
  id: 't-1',
  status: 'open',
  level: 'critical',
  title: 'Disk full',
  fullTitle: 'Disk full',
  createdAt: NOW,
  updatedAt: NOW,
  updatedAtText: new Date(NOW).toISOString(),
}

function candidate(ticket: Partial<Ticket> = {}, others: Partial<Candidate> = {}): Candidate {
  return {
    kind: 'new',
    ticket: { ...FRESH_TICKET, ...(ticket.title && { fullTitle: ticket.title }), ...ticket },
    now: NOW,
    freshMs: 60 * MINUTE,
    budgetLeft: 20,
    ...others,
  }
}

const OLD = NOW - 60 * MINUTE - 1
const change = { kind: 'change' } as const

const CASES: readonly [what: string, candidate: Candidate, verdict: Reason | 'send'][] = [
  ['a fresh critical ticket', candidate(), 'send'],
  ['a fresh high ticket', candidate({ level: 'high' }), 'send'],
  ['a ticket opened at the edge of the window', candidate({ createdAt: OLD + 1 }), 'send'],
  ['a ticket opened before the window', candidate({ createdAt: OLD }), 'too_old'],
  [
    'an old ticket that was updated just now and is not in the snapshot',
    candidate({ createdAt: OLD, updatedAt: NOW }),
    'too_old',
  ],
  ['a ticket from the future', candidate({ createdAt: NOW + 1e9 }), 'send'],
  ['a ticket without times', candidate({ createdAt: undefined, updatedAt: undefined }), 'send'],
  [
    'a ticket without a creation time that was updated long ago',
    candidate({ createdAt: undefined, updatedAt: OLD }),
    'too_old',
  ],
  ['a new ticket of a middle level', candidate({ level: 'medium' }), 'level'],
  ['a new ticket for information', candidate({ level: 'info' }), 'level'],
  ['a new ticket without a level', candidate({ level: '' }), 'level'],
  ['a new ticket beyond the budget', candidate({}, { budgetLeft: 0 }), 'budget'],
  ['a change of a ticket for information', candidate({ level: 'info' }, change), 'send'],
  ['a change of a ticket opened long ago', candidate({ createdAt: OLD }, change), 'send'],
  ['a change at the edge of the window', candidate({ updatedAt: OLD + 1 }, change), 'send'],
  ['a change before the window', candidate({ updatedAt: OLD }, change), 'too_old_transition'],
  ['a change without its time', candidate({ createdAt: OLD, updatedAt: undefined }, change), 'send'],
  ['a change beyond the budget', candidate({}, { ...change, budgetLeft: 0 }), 'budget'],
]

for (const [what, given, verdict] of CASES) {
  test(`${what}: ${verdict}`, () => assert.equal(applyGates(given), verdict))
}

test('there are eight test markers', () => {
  assert.deepEqual(
    [...TEST_MARKERS],
    ['[TK-', '[tk-', 'SELFTEST', 'selftest', '[自测', 'ZZ-', '[TEST', '验收'],
  )
})

for (const marker of TEST_MARKERS) {
  test(`a title with ${marker} anywhere in it is a test, new or changed`, () => {
    for (const title of [marker, `${marker}12] x`, `before ${marker} after`]) {
      assert.equal(applyGates(candidate({ title })), 'test')
      assert.equal(applyGates(candidate({ title }, change)), 'test')
    }
  })
}

test('a marker is found in a title that is too long to be shown', () => {
  assert.equal(applyGates(candidate({ title: 'Disk …', fullTitle: 'Disk full SELFTEST' })), 'test')
})

test('a title that only resembles a marker is no test', () => {
  for (const title of ['TK-1', '[Tk-1]', 'SelfTest', '自测', 'zz-1', 'TEST', '[test]', '验 收']) {
    assert.equal(applyGates(candidate({ title })), 'send')
  }
})

test('the gates apply in the order freshness, level, test, budget', () => {
  const flaws: readonly [reason: Reason, ticket: Partial<Ticket>, others: Partial<Candidate>][] = [
    ['too_old', { createdAt: OLD, updatedAt: OLD }, {}],
    ['level', { level: 'low' }, {}],
    ['test', { title: 'ZZ-1' }, {}],
    ['budget', {}, { budgetLeft: 0 }],
  ]
  // A ticket with all flaws from the n-th on is suppressed by the n-th gate.
  for (const [index, [reason]] of flaws.entries()) {
    const rest = flaws.slice(index)
    const ticket = Object.assign({}, ...rest.map(([, each]) => each)) as Partial<Ticket>
    const others = Object.assign({}, ...rest.map(([, , each]) => each)) as Partial<Candidate>
    assert.equal(applyGates(candidate(ticket, others)), reason)
    const ofChange = { too_old: 'too_old_transition', level: 'test', test: 'test', budget: 'budget' } as const
    assert.equal(
      applyGates(candidate(ticket, { ...others, ...change })),
      ofChange[reason as keyof typeof ofChange],
    )
  }
})
