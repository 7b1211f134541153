import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Snapshot, type SnapshotEntry, toEntry } from './snapshot.ts'

const AT = '2026-11-21T02:00:00.000Z'
const ENTRY: SnapshotEntry = { status: 'open', level: 'high', title: 'Disk', updated_at: AT }
const NONE_LISTED = { listed: new Set<string>(), pruneBefore: 0 }

const contentOf = (snapshot: Snapshot) =>
  Buffer.from([...snapshot.beginning(), snapshot.ending()].join(''), 'latin1').toString()
const readBytes = (bytes: Buffer, options = NONE_LISTED) =>
  Snapshot.parse(() => bytes.toString('latin1').split('\n'), options)
const read = (text: string, options = NONE_LISTED) => readBytes(Buffer.from(text), options)

function written(entries: Readonly<Record<string, SnapshotEntry>>): string {
  return contentOf(read(JSON.stringify(entries)))
}

test('the file is a JSON object: ticket ids with status, level, title and updated_at', () => {
  assert.deepEqual(JSON.parse(written({ a: ENTRY })), { a: ENTRY })
  assert.deepEqual(JSON.parse(written({})), {})
})

test('a written snapshot is read again, whatever ids and titles contain', () => {
  const text = fc.string({ unit: 'binary' }).map((each) => each.toWellFormed())
  const time = fc.oneof(fc.constant(AT), fc.constant('2026-11-21T10:00:00+08:00'), text)
  const entry = fc.record(
    { status: text, level: text, title: text, updated_at: time },
    { noNullPrototype: true },
  )
  const entries = fc.dictionary(fc.oneof(text, fc.constant('__proto__'), fc.constant('工单-1')), entry)
  fc.assert(
    fc.property(entries, entries, fc.func(fc.boolean()), (old, fresh, isWanted) => {
      const wanted = new Set([...Object.keys(old).filter(isWanted), ...Object.keys(fresh)])
      const snapshot = read(written(old), { listed: wanted, pruneBefore: 0 })
      for (const id of wanted)
        assert.deepEqual(snapshot.get(id), Object.hasOwn(old, id) ? old[id] : undefined)
      for (const [id, each] of Object.entries(fresh)) snapshot.set(id, each)
      const now = JSON.parse(contentOf(snapshot)) as object
      assert.deepEqual(
        new Map(Object.entries(now)),
        new Map([...Object.entries(old), ...Object.entries(fresh)]),
      )
    }),
  )
})

test('lines of tickets that are not listed keep their bytes', () => {
  const before = written({ a: ENTRY, b: { ...ENTRY, title: '磁盘' }, c: ENTRY })
  assert.equal(contentOf(read(before)), before)
  const snapshot = read(before, { ...NONE_LISTED, listed: new Set(['b']) })
  snapshot.set('b', { ...ENTRY, status: 'closed' })
  assert.deepEqual(JSON.parse(contentOf(snapshot)), { a: ENTRY, c: ENTRY, b: { ...ENTRY, status: 'closed' } })
})

test('a state file in another layout is read: indented, minified, with a byte order mark, with unknown fields', () => {
  const entries = { a: { ...ENTRY, seen: 3, note: { by: 'ops' } }, b: ENTRY }
  for (const text of [
    JSON.stringify(entries),
    JSON.stringify(entries, null, 2),
    `\uFEFF${JSON.stringify(entries)}`,
  ]) {
    const snapshot = read(text, { ...NONE_LISTED, listed: new Set(['a']) })
    assert.deepEqual(snapshot.get('a'), entries.a)
    assert.deepEqual(JSON.parse(contentOf(snapshot)), entries)
  }
})

test('an entry of another type counts as unknown', () => {
  const ids = ['a', 'b', 'c']
  const snapshot = read('{"a":7,"b":null,"c":{"status":1}}', { ...NONE_LISTED, listed: new Set(ids) })
  for (const id of ids) assert.equal(snapshot.get(id)?.status, '')
})

const UNREADABLE: readonly [what: string, bytes: Buffer][] = [
  ['empty', Buffer.alloc(0)],
  ['filled with NUL', Buffer.alloc(300)],
  ['an array', Buffer.from('[]')],
  ['null', Buffer.from('null')],
  ['a string', Buffer.from('"{}"')],
  ['not UTF-8', Buffer.from([0xff, 0xfe, 0x7b, 0x00])],
  ['HTML', Buffer.from('<html></html>')],
  ['two values', Buffer.from('{}{}')],
]

for (const [what, bytes] of UNREADABLE) {
  test(`a state file that is ${what} is unreadable`, () => {
    assert.throws(() => readBytes(bytes))
  })
}

test('a state file that was cut off anywhere before its last line feed is unreadable', () => {
  const whole = Buffer.from(written({ a: ENTRY, b: ENTRY, '工单 "3"': ENTRY }))
  for (let length = 0; length < whole.length - 1; length++) {
    assert.throws(() => readBytes(whole.subarray(0, length)), `${length} bytes`)
  }
})

test('a state file with one wrong byte is read if it is a JSON object, else refused', () => {
  const whole = Buffer.from(written({ a: ENTRY, b: ENTRY }))
  for (let at = 0; at < whole.length; at++) {
    for (const byte of [0, 0x22, 0x2c, 0x7d, 0x0a, 0xff]) {
      const broken = Buffer.from(whole)
      broken[at] = byte
      const valid = isObject(broken.toString('utf8'))
      let read = true
      try {
        JSON.parse(contentOf(readBytes(broken)))
      } catch {
        read = false
      }
      assert.equal(read, valid, broken.toString('latin1'))
    }
  }
})

function isObject(text: string): boolean {
  try {
    return !Array.isArray(JSON.parse(text))
  } catch {
    return false
  }
}

test('old entries are removed, unless their ticket is listed', () => {
  const day = (n: number) => new Date(Date.UTC(2026, 10, n)).toISOString()
  const entries = {
    old: { ...ENTRY, updated_at: day(1) },
    oldButListed: { ...ENTRY, updated_at: day(1) },
    oldWithOffset: { ...ENTRY, updated_at: '2026-11-01T08:00:00+08:00' },
    oldUnreadable: { ...ENTRY, updated_at: 'long ago', seen_at: day(1) },
    recentUnreadable: { ...ENTRY, updated_at: '', seen_at: day(21) },
    ageless: { ...ENTRY, updated_at: '' },
    recent: { ...ENTRY, updated_at: day(20) },
  }
  const options = { listed: new Set(['oldButListed']), pruneBefore: Date.UTC(2026, 10, 10) }
  for (const text of [JSON.stringify(entries), written(entries)]) {
    const snapshot = read(text, options)
    assert.equal(snapshot.pruned, 3)
    assert.deepEqual(
      new Set(Object.keys(JSON.parse(contentOf(snapshot)) as object)),
      new Set(['oldButListed', 'recentUnreadable', 'ageless', 'recent']),
    )
  }
})

test('fields of a ticket that are unknown now keep their earlier values', () => {
  const bare = {
    id: 'a',
    status: '',
    level: '',
    title: '',
    fullTitle: '',
    createdAt: undefined,
    updatedAt: undefined,
    updatedAtText: '',
  }
  const now = Date.parse(AT)
  assert.deepEqual(toEntry(bare, { ...ENTRY, note: 'x' }, now), { ...ENTRY, note: 'x', seen_at: AT })
  assert.deepEqual(toEntry(bare, undefined, now), {
    status: '',
    level: '',
    title: '',
    updated_at: '',
    seen_at: AT,
  })
  assert.deepEqual(
    toEntry(
      { ...bare, status: 'closed', updatedAt: now, updatedAtText: AT },
      { ...ENTRY, seen_at: 'x' },
      now,
    ),
    { ...ENTRY, status: 'closed' },
  )
})
