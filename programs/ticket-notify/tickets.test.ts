import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseTicketList } from '../../test/support/ticket-api.ts'

const AT = '2026-11-21T02:00:00.000Z'
const WHOLE = { id: 't-1', status: 'open', level: 'HIGH', title: 'Disk', created_at: AT, updated_at: AT }

const only = (value: unknown) => parseTicketList([value])?.tickets[0]

test('a list is an array, or in items, tickets or data', () => {
  for (const answer of [
    [WHOLE],
    { items: [WHOLE], next_cursor: null },
    { tickets: [WHOLE] },
    { data: [WHOLE] },
  ]) {
    const list = parseTicketList(answer)
    assert.deepEqual([list?.fetched, list?.malformed, list?.tickets[0]?.id], [1, 0, 't-1'])
  }
})

test('an answer without a list is not accepted', () => {
  for (const answer of [null, 'x', 7, {}, { items: {} }, { error: 'no' }]) {
    assert.equal(parseTicketList(answer), undefined)
  }
})

test('a ticket without a usable id is counted and skipped', () => {
  const bad = [
    null,
    7,
    'x',
    [],
    {},
    { id: '' },
    { id: '  ' },
    { id: {} },
    { id: null },
    { id: 'x'.repeat(257) },
  ]
  const list = parseTicketList([...bad, WHOLE])
  assert.deepEqual([list?.fetched, list?.malformed, list?.tickets.length], [11, 10, 1])
})

test('fields that are missing or of a wrong type are unknown', () => {
  assert.deepEqual(
    only({ id: 7, status: 3, level: null, title: {}, created_at: 'yesterday', updated_at: 12 }),
    {
      id: '7',
      status: '',
      level: '',
      title: '',
      fullTitle: '',
      createdAt: undefined,
      updatedAt: undefined,
      updatedAtText: '',
    },
  )
})

test('a level in capitals is accepted', () => {
  assert.equal(only(WHOLE)?.level, 'high')
})

test('a title is one line of limited length', () => {
  assert.equal(only({ ...WHOLE, title: ' a\r\nBcc: x\u2028\u0000\u001b[31m b\t' })?.title, 'a Bcc: x [31m b')
  const long = only({ ...WHOLE, title: '🔥'.repeat(5_000) })?.title ?? ''
  assert.ok(long.isWellFormed())
  assert.equal([...long].length, 300)
  assert.match(only({ ...WHOLE, title: `${'x'.repeat(5_000)} SELFTEST` })?.fullTitle ?? '', / SELFTEST$/)
})

test('no field of a ticket can hold a line break or another control character', () => {
  const bad = 'a\r\nTicket: b\u2028\u0085\u001b\u202ec\ud800'
  const fields = { id: bad, status: bad, level: bad, title: bad, created_at: bad, updated_at: bad }
  const clean = 'a Ticket: b c\ufffd'
  const { id, status, level, title, fullTitle, updatedAtText } = only(fields) ?? assert.fail()
  assert.deepEqual([id, status, title, fullTitle, updatedAtText], Array(5).fill(clean))
  assert.equal(level, clean.toLowerCase())
})

test('a ticket that is listed twice counts once, as in its first place', () => {
  const list = parseTicketList([{ ...WHOLE, status: 'closed' }, WHOLE])
  assert.deepEqual(
    list?.tickets.map(({ status }) => status),
    ['closed'],
  )
})

test('the ticket that is unchanged for the longest time comes first', () => {
  const at = (minute: number) => `2026-11-21T02:${minute}:00+00:00`
  const list = parseTicketList([30, 10, 20].map((minute) => ({ id: `at-${minute}`, updated_at: at(minute) })))
  assert.deepEqual(
    list?.tickets.map(({ id }) => id),
    ['at-10', 'at-20', 'at-30'],
  )
})

test('no list makes parsing fail', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.jsonValue(), fc.object({ key: fc.constantFrom(...Object.keys(WHOLE)) }))),
      (list) => {
        const parsed = parseTicketList(list)
        assert.equal(parsed?.fetched, list.length)
      },
    ),
  )
})
