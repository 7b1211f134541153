import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, SECOND } from '../../../src/kernel/time.ts'
import {
  nightAlertsWorld,
  reportTitle,
  type NightAlertsWorld,
  type Reaction,
} from '../../../test/support/night-alerts.ts'
import { DrillTicket } from '../restore/restore-ticket.ts'
import { OUTBOX_FILE } from './outbox-files.ts'

const TEN = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
const TEMPLATES = { 'backup.start': { title: '${backup_id}' } }

function world() {
  return nightAlertsWorld({ templates: TEMPLATES })
}

async function reportAll({ alerts }: Pick<NightAlertsWorld, 'alerts'>, ...titles: string[]) {
  for (const title of titles) await alerts.report('backup_started', reportTitle(title))
}

const messages = ({ logged }: NightAlertsWorld, level: string) =>
  logged.filter((line) => line.level === level).map(({ message }) => message)

for (const reaction of ['away', 503, 500, 429, 'lost'] as const satisfies Reaction[]) {
  test(`when the platform answers ${reaction}, reports wait, and go out in order`, async () => {
    const w = world()
    w.api.otherwise = reaction
    await reportAll(w, 'a', 'b', 'c')
    assert.equal(w.files.lines().length, 3)
    assert.equal(w.alerts.waiting(), 3)
    assert.match(messages(w, 'warn').join(), /wait in the outbox/)
    w.api.otherwise = 'accept'
    await reportAll({ alerts: w.another() }, 'd')
    assert.deepEqual(w.api.titles(), ['a', 'b', 'c', 'd'])
    assert.deepEqual(w.files.lines(), [])
    assert.deepEqual(w.files.refused(), [])
  })
}

for (const status of [400, 403, 404, 409, 413]) {
  test(`a report that is refused with ${status} is set aside, and the others go out`, async () => {
    const w = world()
    w.api.otherwise = 'away'
    await reportAll(w, 'a', 'b', 'c')
    w.api.otherwise = 'accept'
    w.api.reactions = ['accept', status]
    await w.alerts.deliver()
    assert.deepEqual(w.api.titles(), ['a', 'c'])
    assert.deepEqual(w.files.lines(), [])
    assert.deepEqual(
      w.files.refused().map(({ reason, entry }) => [reason, entry?.body.title]),
      [[`HTTP status ${status}`, 'b']],
    )
    assert.deepEqual(messages(w, 'error'), ['set aside from the outbox'])
  })
}

test('each entry is in the file before it is sent', async () => {
  const w = world()
  w.api.onCall = () => assert.equal(w.files.lines().length, 1)
  await reportAll(w, 'a', 'b')
  await w.alerts.beat('backup')
  assert.equal(w.api.effects.length, 3)
})

test('calls at the same time are delivered in the order in which they were made', async () => {
  const w = world()
  const titles = ['a', 'b', 'c', 'd', 'e']
  await Promise.all(titles.map((title) => w.alerts.report('backup_started', reportTitle(title))))
  assert.deepEqual(w.api.titles(), titles)
})

test('alerts delay a run by no more than 30 s in all, whatever the platform does', async () => {
  const w = world()
  // A platform that never answers: each call takes all the time that it has.
  w.api.otherwise = 'away'
  w.api.onCall = ({ timeoutMs }) => w.clock.advance(timeoutMs)
  await reportAll(w, ...Array.from({ length: 50 }, (_, index) => `r${index}`))
  assert.ok(w.clock.monotonic() <= 30 * SECOND, `${w.clock.monotonic()} ms`)
  assert.equal(w.files.lines().length, 50)
})

test('a slow platform gets what fits in the time; the next run goes on', async () => {
  const w = world()
  w.api.onCall = () => w.clock.advance(4 * SECOND)
  await reportAll(w, ...TEN)
  assert.ok(w.clock.monotonic() <= 30 * SECOND)
  const first = w.api.titles().length
  assert.ok(first >= 6 && first < 10)
  await w.another().deliver()
  assert.deepEqual(w.api.titles(), TEN)
})

test('a pause that the platform asks for is kept when it is short', async () => {
  const w = world()
  w.api.reactions = [429, 'accept']
  w.api.retryAfterMs = 2 * SECOND
  await reportAll(w, 'a')
  assert.deepEqual(w.api.titles(), ['a'])
  assert.equal(w.clock.monotonic(), 2 * SECOND)
})

test('a pause that is too long is not kept', async () => {
  const w = world()
  w.api.otherwise = 429
  w.api.retryAfterMs = MINUTE
  await reportAll(w, 'a')
  assert.equal(w.clock.monotonic(), 0)
  assert.equal(w.alerts.waiting(), 1)
})

test('an entry at which the platform fails for more than a day does not hold up the others', async () => {
  const w = world()
  w.api.otherwise = 500
  await reportAll(w, 'poison', 'b')
  w.clock.advance(25 * 60 * MINUTE)
  w.api.reactions = [500]
  w.api.otherwise = 'accept'
  await w.another().deliver()
  assert.deepEqual(w.api.titles(), ['b'])
  assert.equal(w.files.refused().length, 1)
})

test('a platform that is away for a month loses nothing of a small outbox', async () => {
  const w = world()
  w.api.otherwise = 503
  for (let night = 0; night < 30; night++) {
    await reportAll({ alerts: w.another() }, `night ${night}`)
    w.clock.advance(24 * 60 * MINUTE)
  }
  w.api.otherwise = 'accept'
  await w.another().deliver()
  assert.equal(w.api.titles().length, 30)
})

test('a torn last line and a line that is no entry are set aside, and the others are delivered', async () => {
  const w = world()
  w.api.otherwise = 'away'
  await reportAll(w, 'a', 'b')
  const [first = '', second = ''] = w.files.lines()
  const lines = [first, '{"id":"x","at":"y","kind":"ticket_edit","ticket":{}}', second, first.slice(0, 40)]
  w.files.texts.set(OUTBOX_FILE, lines.join('\n'))
  w.api.otherwise = 'accept'
  const next = { ...w, alerts: w.another() }
  await reportAll(next, 'c')
  assert.deepEqual(w.api.titles(), ['a', 'b', 'c'])
  assert.deepEqual(w.files.lines(), [])
  assert.deepEqual(
    w.files.refused().map(({ reason }) => reason),
    Array(2).fill('the line is no entry of an outbox'),
  )
  assert.equal(messages(w, 'error').length, 2)
})

test('an outbox that cannot be read stays where it is, and new reports are sent from memory', async () => {
  const w = world()
  w.api.otherwise = 'away'
  await reportAll(w, 'kept')
  w.api.otherwise = 'accept'
  const { read } = w.files
  w.files.read = () => {
    throw new Error('EIO: i/o error')
  }
  await reportAll({ alerts: w.another() }, 'new')
  w.files.read = read
  assert.deepEqual(w.api.titles(), ['new'])
  assert.match(JSON.stringify(w.logged), /outbox\.jsonl cannot be read: EIO: i\/o error; it stays/)
  await w.another().deliver()
  assert.deepEqual(w.api.titles(), ['new', 'kept'])
})

test('on a full disk reports are sent from memory, once each, and the log names what would be lost', async () => {
  const w = world()
  w.files.replace = () => {
    throw new Error('ENOSPC: no space left on device')
  }
  w.api.reactions = ['away']
  await reportAll(w, 'a', 'b')
  assert.deepEqual(w.api.titles(), ['a', 'b'])
  assert.match(messages(w, 'error').join(), /the entry is lost unless the platform accepts it/)
  await w.alerts.deliver()
  assert.equal(w.api.calls.length, 3)
})

test('on a disk that fills up, what was stored before is sent again by the next run, with the same keys', async () => {
  const w = world()
  w.api.otherwise = 'away'
  await reportAll(w, 'a', 'b')
  w.api.otherwise = 'accept'
  w.files.replace = () => {
    throw new Error('ENOSPC: no space left on device')
  }
  await w.alerts.deliver()
  await w.another().deliver()
  assert.deepEqual(w.api.titles(), ['a', 'b'])
  const keys = w.api.calls.slice(2).map(({ idempotencyKey }) => idempotencyKey)
  assert.deepEqual(keys.slice(2), keys.slice(0, 2))
})

test('the outbox and the file of refused entries are bounded; the oldest go first', async () => {
  const w = world()
  w.api.otherwise = 'away'
  const line = (index: number) =>
    JSON.stringify({ id: `${index}`, at: '2026-01-31T02:00:00.000Z', kind: 'beat', name: 'backup' })
  w.files.texts.set(OUTBOX_FILE, Array.from({ length: 1_200 }, (_, index) => line(index)).join('\n'))
  await reportAll(w, 'last')
  const lines = w.files.lines()
  assert.equal(lines.length, 1_000)
  assert.equal(lines[0], line(201))
  assert.match(lines.at(-1) ?? '', /"last"/)
  assert.equal(w.files.refused().length, 100)
  assert.equal(w.files.refused().at(-1)?.reason, 'the outbox was full')
})

test('the outbox is bounded in bytes, too', async () => {
  const w = world()
  w.api.otherwise = 'away'
  const line = (index: number) =>
    JSON.stringify({
      id: `${index}`,
      at: '2026-01-31T02:00:00.000Z',
      kind: 'report',
      body: { body: 'x'.repeat(15_000) },
    })
  w.files.texts.set(OUTBOX_FILE, Array.from({ length: 400 }, (_, index) => line(index)).join('\n'))
  await reportAll(w, 'last')
  assert.ok(w.files.read(OUTBOX_FILE).length <= 2 * 1_024 ** 2)
  assert.match(w.files.lines().at(-1) ?? '', /"last"/)
})

test('both files are replaced under the lock of changes only', async () => {
  const w = world()
  const free: string[] = []
  w.files.replace = (name, text) => {
    using lock = w.files.lock('change')
    if (lock) free.push(name)
    w.files.texts.set(name, text)
  }
  w.api.reactions = [400]
  await reportAll(w, 'refused', 'accepted')
  assert.equal(w.files.refused().length, 1)
  assert.deepEqual(free, [])
})

test('while another process delivers, entries are added and left to it', async () => {
  const w = world()
  using _lock = w.files.lock('delivery')
  await reportAll(w, 'a')
  assert.equal(w.api.calls.length, 0)
  assert.equal(w.files.lines().length, 1)
  assert.ok(w.clock.monotonic() <= 30 * SECOND)
})

test('a process that never releases the file delays a run by no more than 30 s, and its reports are sent', async () => {
  const w = world()
  using _lock = w.files.lock('change')
  await reportAll(w, ...TEN)
  assert.ok(w.clock.monotonic() <= 30 * SECOND)
  assert.deepEqual(w.api.titles(), TEN)
  assert.match(messages(w, 'error').join(), /another process does not release the outbox/)
})

test('a drill whose platform is away in the middle ends in one closed ticket', async () => {
  const w = world()
  const drill = await DrillTicket.open(w.alerts, '20260131-020000')
  w.api.otherwise = 'away'
  await drill.pass('11 checks passed')
  assert.equal(w.files.lines().length, 4)
  w.api.otherwise = 'accept'
  await w.another().deliver()
  const { effects } = w.api
  assert.equal(effects.filter(({ path }) => path === '/tickets').length, 1)
  assert.deepEqual(
    effects.filter(({ method }) => method === 'PUT').map(({ path, body }) => [path, body]),
    [
      ['/tickets/made-1', { comment: 'restore completed' }],
      ['/tickets/made-1', { comment: 'summary: 11 checks passed' }],
      ['/tickets/made-1', { status: 'resolved' }],
      ['/tickets/made-1', { status: 'closed' }],
    ],
  )
})

test('the changes of a ticket that is refused are set aside with it', async () => {
  const w = world()
  w.api.reactions = [400, 400, 400, 400, 400]
  const drill = await DrillTicket.open(w.alerts, '1')
  await drill.pass('x')
  await reportAll(w, 'after')
  assert.deepEqual(w.files.lines(), [])
  assert.equal(w.files.refused().length, 5)
  assert.deepEqual(w.api.titles(), ['after'])
})

test('a variable for a secret in a value or a text reaches no file and no call', async () => {
  const w = world()
  w.api.otherwise = 'away'
  await w.alerts.report('backup_failed', { source_path: '/srv/${token}' }, ['the ${ PassWord } of x'])
  await w.alerts.openTicket({ title: '${token}', level: 'high', description: '${password}', dedup_key: 'x' })
  const texts = [...w.files.texts.values(), JSON.stringify(w.api.calls), JSON.stringify(w.logged)].join()
  assert.doesNotMatch(texts, /\$\{\s*(token|password)/i)
})
