import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTicketList } from '../../test/support/ticket-api.ts'
import { type FakeClock, fakeClock } from '../../test/support/clock.ts'
import { MemoryStateStore, type NotifierDisk } from '../../test/support/memory-state-store.ts'
import { type Alert, FetchError } from './api.ts'
import { createLog } from './log.ts'
import type { ChannelOutcome, Notification, NotifyResult } from './notification.ts'
import { type RoundSettings, runRound, SaveError, type RoundCounts } from './round.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

interface LogLine {
  readonly level: string
  readonly message: string
  readonly [field: string]: unknown
}

/** A notifier with doubles for platform, channels and disk. */
function world(settings: Partial<RoundSettings> = {}) {
  const clock: FakeClock = fakeClock(Date.UTC(2026, 10, 21, 2))
  const disk: NotifierDisk = { state: undefined, digestRecord: undefined, kept: [] }
  const sent: Notification[] = []
  const alerts: Alert[] = []
  const platform = { takesAlerts: true }
  const lines: LogLine[] = []
  const channels: { mail: ChannelOutcome; robot: ChannelOutcome; refused?: readonly string[] } = {
    mail: 'sent',
    robot: 'sent',
  }
  const now = () => new Date(clock.now()).toISOString()
  const round = (
    tickets: readonly object[],
    hooks: { onSend?: () => void; onAlert?: () => void; onWrite?: (what: string) => void } = {},
  ): Promise<RoundCounts> => {
    let stopping = false
    return runRound(
      {
        log: createLog({ write: (text) => lines.push(JSON.parse(text) as LogLine) }, clock.now),
        store: new MemoryStateStore(disk, { beforeWrite: hooks.onWrite ?? (() => {}) }),
        now: clock.now,
        monotonic: clock.monotonic,
        async fetchTickets() {
          return parseTicketList(tickets) ?? assert.fail()
        },
        async send(notification): Promise<NotifyResult> {
          sent.push(notification)
          hooks.onSend?.()
          if (hooks.onSend) stopping = true
          return { ...channels, reasons: {} }
        },
        async reportAlert(alert) {
          alerts.push(alert)
          if (hooks.onAlert) stopping = true
          if (!platform.takesAlerts) throw new Error('HTTP status 503')
        },
        server: 'host-1',
        isStopping: () => stopping,
      },
      {
        limit: 500,
        seedOnly: false,
        freshMs: 60 * MINUTE,
        maxNotify: 20,
        keepMs: 30 * DAY,
        digest: true,
        stateFile: '/state.json',
        ...settings,
      },
    )
  }
  const ticket = (id: string, fields: object = {}) => ({
    id,
    status: 'open',
    level: 'critical',
    title: `Ticket ${id}`,
    created_at: now(),
    updated_at: now(),
    ...fields,
  })
  const entries = () => JSON.parse(disk.state ?? '{}') as Record<string, { status: string }>
  return { clock, disk, sent, alerts, platform, lines, channels, round, ticket, entries, now }
}

test('the first round writes the snapshot and sends nothing', async () => {
  const w = world()
  const counts = await w.round([w.ticket('a'), w.ticket('b')])
  assert.deepEqual(w.sent, [])
  assert.deepEqual(Object.keys(w.entries()), ['a', 'b'])
  assert.deepEqual([counts.fetched, counts.new, counts.sent], [2, 2, 0])
})

test('an unreadable state sends nothing, is kept, and is reported to the platform until a round reads its state', async () => {
  const w = world()
  w.disk.state = '{"a":'
  await w.round([w.ticket('a')])
  assert.deepEqual(w.sent, [])
  assert.deepEqual(
    w.alerts.map(({ alarm_id, title, level, server_addr }) => [alarm_id, title, level, server_addr]),
    [['ticket-notify.state', 'ticket-notify.state', 'HIGH', 'host-1']],
  )
  assert.match(
    w.alerts[0]?.body ?? '',
    /^weight=5 alarm_id=ticket-notify\.state\nThe state file \/state\.json is unreadable/,
  )
  assert.deepEqual(w.disk.kept, ['{"a":'])
  assert.deepEqual(Object.keys(w.entries()), ['a'])
  assert.ok(w.lines.some(({ level, message }) => level === 'ERROR' && message.includes('unreadable')))
  w.platform.takesAlerts = false
  await w.round([w.ticket('a')])
  w.platform.takesAlerts = true
  for (let rounds = 0; rounds < 2; rounds++) await w.round([w.ticket('a')])
  assert.deepEqual(
    [w.sent.length, w.alerts.map(({ alarm_id, level }) => `${alarm_id} ${level}`)],
    [0, ['ticket-notify.state HIGH', 'ticket-notify.state CLOSE', 'ticket-notify.state CLOSE']],
  )
})

test('an alert that the platform refuses is logged, and named in the next digest', async () => {
  const w = world()
  w.disk.state = 'rubbish'
  w.platform.takesAlerts = false
  await w.round([])
  assert.ok(w.lines.some(({ message, reason }) => message.includes('alert') && reason === 'HTTP status 503'))
  w.clock.advance(DAY)
  await w.round([])
  assert.match(w.sent.at(-1)?.text ?? '', /ticket-notify\.state/)
})

test('a signal during the report of an unreadable state leaves it to the next round', async () => {
  const w = world()
  w.disk.state = 'rubbish'
  w.platform.takesAlerts = false
  await w.round([w.ticket('a')], { onAlert() {} })
  assert.deepEqual([w.disk.state, w.disk.digestRecord, w.disk.kept], ['rubbish', undefined, []])
  w.platform.takesAlerts = true
  await w.round([w.ticket('a')])
  assert.deepEqual([w.alerts.length, w.disk.kept], [2, ['rubbish']])
})

test('an unreadable state is not moved when the new one cannot be saved', async () => {
  const w = world()
  w.disk.state = 'rubbish'
  const full = () => {
    throw new Error('no space left on device')
  }
  await assert.rejects(w.round([w.ticket('a')], { onWrite: full }), SaveError)
  assert.equal(w.disk.state, 'rubbish')
})

test('a round with --seed-only keeps an unreadable state, too', async () => {
  const w = world({ seedOnly: true })
  w.disk.state = 'rubbish'
  await w.round([w.ticket('a')])
  assert.deepEqual([w.sent.length, w.disk.kept], [0, ['rubbish']])
})

for (const state of [undefined, 'rubbish']) {
  test(`a first round sends no digest either (state: ${state})`, async () => {
    const w = world()
    await w.round([])
    await w.round([w.ticket('low', { level: 'low' })])
    w.clock.advance(DAY)
    w.disk.state = state
    await w.round([])
    assert.deepEqual(w.sent, [])
    await w.round([])
    assert.deepEqual(
      w.sent.map(({ category }) => category),
      ['digest'],
    )
  })
}

test('a digest is not sent when the record cannot be written: it would be sent in each round', async () => {
  const w = world()
  await w.round([])
  await w.round([w.ticket('low', { level: 'low' })])
  w.clock.advance(DAY)
  const failRecord = (what: string) => {
    if (what === 'digestRecord') throw new Error('no space left on device')
  }
  for (let n = 0; n < 2; n++) await assert.rejects(w.round([], { onWrite: failRecord }), SaveError)
  assert.deepEqual(w.sent, [])
})

test('a round with --seed-only adds to the snapshot, and removes nothing', async () => {
  const w = world()
  await w.round([w.ticket('a')])
  const seeding = world({ seedOnly: true })
  seeding.disk.state = w.disk.state
  await seeding.round([seeding.ticket('b')])
  assert.deepEqual(Object.keys(seeding.entries()).sort(), ['a', 'b'])
})

test('a ticket that is not in the snapshot is sent, once', async () => {
  const w = world()
  await w.round([])
  const ticket = w.ticket('a')
  assert.equal((await w.round([ticket])).sent, 1)
  assert.equal((await w.round([ticket])).sent, 0)
  assert.deepEqual(
    w.sent.map(({ title, key, level }) => [title, key, level]),
    [['[CRITICAL] New ticket: Ticket a', 'ticket:a:new:', 'critical']],
  )
})

test('a status that differs from the snapshot is sent, even for level info', async () => {
  const w = world()
  await w.round([w.ticket('a', { level: 'info' })])
  const counts = await w.round([w.ticket('a', { level: 'info', status: 'resolved' })])
  assert.deepEqual([counts.changed, counts.sent], [1, 1])
  assert.equal(w.sent[0]?.title, '[INFO] open → resolved: Ticket a')
  assert.equal(w.entries()['a']?.status, 'resolved')
})

test('each change has its own key, also when it is repeated', async () => {
  const w = world()
  await w.round([w.ticket('a')])
  Object.assign(w.channels, { mail: 'failed', robot: 'failed' })
  const closed = w.ticket('a', { status: 'closed' })
  await w.round([closed])
  Object.assign(w.channels, { mail: 'sent', robot: 'sent' })
  await w.round([closed])
  for (const status of ['open', 'closed']) {
    w.clock.advance(MINUTE)
    await w.round([w.ticket('a', { status })])
  }
  const [failed, repeated, reopened, closedAgain] = w.sent.map(({ key }) => key)
  assert.equal(failed, repeated)
  assert.equal(new Set([repeated, reopened, closedAgain]).size, 3)
})

test('other changes are remembered and not sent', async () => {
  const w = world()
  await w.round([w.ticket('a')])
  w.clock.advance(MINUTE)
  await w.round([w.ticket('a', { title: 'Other', level: 'low' })])
  assert.deepEqual(w.sent, [])
  assert.deepEqual(w.entries()['a'], { status: 'open', level: 'low', title: 'Other', updated_at: w.now() })
})

const OUTCOMES: readonly [
  mail: ChannelOutcome,
  robot: ChannelOutcome,
  counted: 'sent' | 'undelivered' | 'failed',
][] = [
  ['sent', 'sent', 'sent'],
  ['sent', 'skipped', 'sent'],
  ['sent', 'failed', 'sent'],
  ['skipped', 'sent', 'sent'],
  ['skipped', 'skipped', 'undelivered'],
  ['skipped', 'failed', 'undelivered'],
  ['failed', 'sent', 'sent'],
  ['failed', 'skipped', 'undelivered'],
  ['failed', 'failed', 'failed'],
]

for (const [mail, robot, counted] of OUTCOMES) {
  test(`mail ${mail} and robot ${robot}: ${counted === 'failed' ? 'tried again in the next round' : 'done'}, counted as ${counted}`, async () => {
    const w = world()
    await w.round([w.ticket('known')])
    Object.assign(w.channels, { mail, robot })
    const tickets = [w.ticket('known', { status: 'closed' }), w.ticket('fresh')]
    const counts = await w.round(tickets)
    assert.equal(counts[counted], 2)
    const advanced = counted !== 'failed'
    assert.equal(w.entries()['known']?.status, advanced ? 'closed' : 'open')
    assert.equal('fresh' in w.entries(), advanced)
    Object.assign(w.channels, { mail: 'sent', robot: 'sent' })
    assert.equal((await w.round(tickets)).sent, advanced ? 0 : 2)
    const digest = w.disk.digestRecord ?? ''
    assert.equal(digest.includes('Ticket fresh'), counted === 'undelivered')
  })
}

test('a round sends no more than its budget; the others wait, in the order of their last change', async () => {
  const w = world({ maxNotify: 2 })
  await w.round([w.ticket('x')])
  const tickets = [5, 3, 1, 4, 2].map((n) =>
    w.ticket(`t${n}`, { updated_at: new Date(w.clock.now() + n).toISOString() }),
  )
  const rounds = [await w.round(tickets), await w.round(tickets), await w.round(tickets)]
  assert.deepEqual(
    rounds.map(({ sent, suppressed }) => [sent, suppressed.budget]),
    [
      [2, 3],
      [2, 1],
      [1, 0],
    ],
  )
  assert.deepEqual(
    w.sent.map(({ title }) => title.at(-1)),
    ['1', '2', '3', '4', '5'],
  )
  assert.ok(
    !w.disk.digestRecord?.includes('Ticket t'),
    'a ticket that was sent in the end is not in the digest',
  )
})

test('a failed attempt uses the budget', async () => {
  const w = world({ maxNotify: 1 })
  await w.round([])
  Object.assign(w.channels, { mail: 'failed', robot: 'failed' })
  const counts = await w.round([w.ticket('a'), w.ticket('b')])
  assert.deepEqual([counts.failed, counts.suppressed.budget, w.sent.length], [1, 1, 1])
})

test('each suppressed ticket counts once and is remembered, except those over the budget', async () => {
  const w = world()
  await w.round([w.ticket('changed')])
  const old = new Date(w.clock.now() - 2 * 60 * MINUTE).toISOString()
  const tickets = [
    w.ticket('old', { created_at: old }),
    w.ticket('changed', { status: 'closed', updated_at: old }),
    w.ticket('low', { level: 'low' }),
    w.ticket('test', { title: 'SELFTEST' }),
  ]
  const counts = await w.round(tickets)
  assert.deepEqual(counts.suppressed, { too_old: 1, too_old_transition: 1, level: 1, test: 1, budget: 0 })
  assert.deepEqual((await w.round(tickets)).suppressed, {
    too_old: 0,
    too_old_transition: 0,
    level: 0,
    test: 0,
    budget: 0,
  })
  assert.deepEqual(
    w.lines
      .filter(({ message }) => message === 'suppressed')
      .map(({ reason, title }) => [reason, title])
      .sort((left, right) => (String(left) < String(right) ? -1 : 1)),
    [
      ['level', 'Ticket low'],
      ['test', 'SELFTEST'],
      ['too_old', 'Ticket old'],
      ['too_old_transition', 'Ticket changed'],
    ],
  )
})

test('a ticket that is absent from one list is not removed', async () => {
  const w = world()
  const ticket = w.ticket('a')
  await w.round([ticket])
  await w.round([])
  await w.round([ticket])
  assert.deepEqual(w.sent, [])
})

test('entries without an update for the keep period are pruned, unless their ticket is listed', async () => {
  const w = world()
  const listed = w.ticket('listed')
  await w.round([listed, w.ticket('gone')])
  w.clock.advance(30 * DAY + 1)
  const counts = await w.round([listed])
  assert.equal(counts.pruned, 1)
  assert.deepEqual(Object.keys(w.entries()), ['listed'])
})

test('a list with --limit tickets is a warning', async () => {
  const w = world({ limit: 2 })
  const warnings = () => w.lines.filter(({ level }) => level === 'WARN').length
  await w.round([w.ticket('a')])
  assert.equal(warnings(), 0)
  await w.round([w.ticket('a'), w.ticket('b')])
  assert.equal(warnings(), 1)
  assert.match(w.lines.find(({ level }) => level === 'WARN')?.message ?? '', /may be missing/)
})

test('an unknown status is no change', async () => {
  const w = world()
  await w.round([w.ticket('a'), { id: 'b' }])
  await w.round([w.ticket('a', { status: undefined }), w.ticket('b')])
  await w.round([w.ticket('a'), w.ticket('b')])
  assert.deepEqual(w.sent, [])
})

test('the first round of a day sends the digest of the day before; the next ones do not', async () => {
  const w = world()
  await w.round([])
  await w.round([w.ticket('low', { level: 'low' }), w.ticket('test', { title: '验收 1' })])
  await w.round([])
  assert.equal(w.sent.length, 0)
  w.clock.advance(DAY)
  await w.round([w.ticket('later', { level: 'info' })])
  await w.round([])
  assert.deepEqual(
    w.sent.map(({ category, title }) => [category, title]),
    [['digest', '[INFO] 3 ticket notifications were not sent']],
  )
  const { text } = w.sent[0] ?? assert.fail()
  for (const line of [
    'New, but of a low level: 2',
    '- [LOW] New ticket: Ticket low',
    'Marked as a test: 1',
  ]) {
    assert.ok(text.includes(line), text)
  }
  w.clock.advance(DAY)
  await w.round([])
  assert.equal(w.sent.length, 1, 'a day without suppressed tickets has no digest')
})

test('a digest counts neither in the budget nor in sent', async () => {
  const w = world({ maxNotify: 1 })
  await w.round([])
  await w.round([w.ticket('low', { level: 'low' })])
  w.clock.advance(DAY)
  const counts = await w.round([w.ticket('a')])
  assert.deepEqual([counts.sent, w.sent.length], [1, 2])
})

test('tickets that wait for the budget through many rounds count once', async () => {
  const w = world({ maxNotify: 1, limit: 2_000 })
  await w.round([])
  const flood = Array.from({ length: 1_000 }, (_, n) => w.ticket(`t${n}`))
  for (let n = 0; n < 5; n++) await w.round(flood)
  w.clock.advance(DAY)
  await w.round([])
  const { title } = w.sent.at(-1) ?? assert.fail()
  assert.equal(title, '[INFO] 995 ticket notifications were not sent')
})

test('a ticket that becomes too old while it waits for the budget counts once, as too old', async () => {
  const w = world({ maxNotify: 1 })
  await w.round([])
  const tickets = [w.ticket('a'), w.ticket('b')]
  assert.equal((await w.round(tickets)).suppressed.budget, 1)
  w.clock.advance(61 * MINUTE)
  assert.equal((await w.round(tickets)).suppressed.too_old, 1)
  w.clock.advance(DAY)
  await w.round([])
  const { title, text } = w.sent.at(-1) ?? assert.fail()
  assert.equal(title, '[INFO] 1 ticket notification was not sent')
  assert.match(text, /opened too long ago: 1/)
})

test('a digest record of a clock that was ahead is sent the day after, not years later', async () => {
  const w = world()
  w.clock.advance(400 * DAY)
  await w.round([])
  await w.round([w.ticket('low', { level: 'low' })])
  w.clock.advance(-400 * DAY)
  await w.round([])
  assert.deepEqual(w.sent, [])
  w.clock.advance(DAY)
  await w.round([])
  assert.deepEqual(
    w.sent.map(({ title }) => title),
    ['[INFO] 1 ticket notification was not sent'],
  )
})

test('a digest that no channel took is tried again; with TICKET_NOTIFY_DIGEST=0 nothing is recorded', async () => {
  const w = world()
  await w.round([])
  await w.round([w.ticket('low', { level: 'low' })])
  w.clock.advance(DAY)
  Object.assign(w.channels, { mail: 'failed', robot: 'skipped' })
  await w.round([])
  Object.assign(w.channels, { mail: 'sent' })
  await w.round([])
  await w.round([])
  assert.equal(w.sent.length, 2)

  const silent = world({ digest: false })
  await silent.round([])
  await silent.round([silent.ticket('low', { level: 'low' })])
  silent.clock.advance(DAY)
  await silent.round([])
  assert.deepEqual([silent.sent, silent.disk.digestRecord], [[], undefined])
})

test('the digest of a thousand suppressed tickets names some and counts all', async () => {
  const w = world()
  await w.round([])
  await w.round(Array.from({ length: 1_000 }, (_, n) => w.ticket(`t${n}`, { level: 'low' })))
  w.clock.advance(DAY)
  await w.round([])
  const { text } = w.sent[0] ?? assert.fail()
  assert.match(text, /low level: 1000/)
  assert.match(text, /- and 980 more/)
})

test('a round whose state cannot be saved sends nothing', async () => {
  const w = world()
  await w.round([])
  const full = () => {
    throw new Error('no space left on device')
  }
  await assert.rejects(w.round([w.ticket('a')], { onWrite: full }), SaveError)
  assert.deepEqual(w.sent, [])
})

test('a round stops sending as soon as its state cannot be saved', async () => {
  const w = world()
  await w.round([])
  const fullAfterSending = () => {
    if (w.sent.length > 0) throw new Error('no space left on device')
  }
  await assert.rejects(w.round([w.ticket('a'), w.ticket('b')], { onWrite: fullAfterSending }), SaveError)
  assert.equal(w.sent.length, 1)
})

test('a stopping round finishes the current send, saves, and sends no more', async () => {
  const w = world()
  await w.round([])
  const counts = await w.round([w.ticket('a'), w.ticket('b')], { onSend() {} })
  assert.deepEqual([counts.sent, Object.keys(w.entries())], [1, ['a']])
})

test('a stopping round sends no digest; the next one does', async () => {
  const w = world()
  await w.round([])
  await w.round([w.ticket('low', { level: 'low' })])
  w.clock.advance(DAY)
  await w.round([w.ticket('a')], { onSend() {} })
  assert.deepEqual(
    w.sent.map(({ category }) => category),
    ['ticket'],
  )
  await w.round([])
  assert.equal(w.sent.at(-1)?.category, 'digest')
})

test('a send that was cut off is tried again, even where the other channel is not configured', async () => {
  const w = world()
  await w.round([])
  Object.assign(w.channels, { mail: 'skipped', robot: 'failed' })
  const counts = await w.round([w.ticket('a')], { onSend() {} })
  assert.deepEqual([counts.failed, counts.undelivered, Object.keys(w.entries())], [1, 0, []])
})

test('a failed fetch changes no file', async () => {
  const w = world()
  await w.round([w.ticket('a')])
  const before = structuredClone(w.disk)
  const failing = runRound(
    {
      log: createLog({ write() {} }, w.clock.now),
      store: new MemoryStateStore(w.disk),
      now: w.clock.now,
      monotonic: w.clock.monotonic,
      fetchTickets: () => Promise.reject(new FetchError('down')),
      send: () => assert.fail(),
      reportAlert: () => assert.fail(),
      server: 'host-1',
      isStopping: () => false,
    },
    { limit: 1, seedOnly: false, freshMs: 1, maxNotify: 1, keepMs: 1, digest: true, stateFile: 'x' },
  )
  await assert.rejects(failing, FetchError)
  assert.deepEqual(w.disk, before)
})

const titles = (sent: readonly Notification[]) => sent.map(({ title }) => title)

test('a ticket whose level rises to a notified one is notified: as new if it never was, else as a change', async () => {
  const w = world()
  const info = w.ticket('a', { level: 'info' })
  const high = w.ticket('b', { level: 'high' })
  await w.round([])
  await w.round([info, high])
  w.clock.advance(2 * 60 * MINUTE)
  const updated_at = w.now()
  const risen = [
    { ...info, level: 'critical', updated_at },
    { ...high, level: 'critical', updated_at },
  ]
  await w.round(risen)
  await w.round(risen)
  assert.deepEqual(titles(w.sent), [
    '[HIGH] New ticket: Ticket b',
    '[CRITICAL] New ticket: Ticket a',
    '[CRITICAL] high → critical: Ticket b',
  ])
})

test('a fall, and a rise back to the level that was notified, are not notified', async () => {
  const w = world()
  const ticket = w.ticket('a', { level: 'high' })
  await w.round([])
  for (const level of ['high', 'info', 'high', 'low', 'critical', 'high', 'critical'])
    await w.round([{ ...ticket, level, updated_at: w.now() }])
  assert.deepEqual(titles(w.sent), ['[HIGH] New ticket: Ticket a', '[CRITICAL] high → critical: Ticket a'])
})

test('a rise is as fresh as the update of its ticket, and waits for the budget and for channels', async () => {
  const w = world({ maxNotify: 1 })
  const [a, b] = [w.ticket('a', { level: 'info' }), w.ticket('b', { level: 'info' })]
  await w.round([a, b])
  const old = w.now()
  w.clock.advance(2 * 60 * MINUTE)
  const [staleA, risenB] = [
    { ...a, level: 'high', updated_at: old },
    { ...b, level: 'high', updated_at: w.now() },
  ]
  w.channels.mail = w.channels.robot = 'failed'
  const counts = await w.round([staleA, risenB])
  assert.deepEqual([counts.suppressed.too_old, counts.failed], [1, 1])
  w.channels.mail = 'sent'
  await w.round([staleA, risenB])
  assert.deepEqual(titles(w.sent), ['[HIGH] New ticket: Ticket b', '[HIGH] New ticket: Ticket b'])
})

test('an entry of an older program with a notified level counts as notified', async () => {
  const w = world()
  const entry = { status: 'open', title: 't', updated_at: w.now() }
  w.disk.state = JSON.stringify({ a: { ...entry, level: 'high' }, b: { ...entry, level: 'info' } })
  await w.round([w.ticket('a'), w.ticket('b')])
  assert.deepEqual(titles(w.sent), [
    '[CRITICAL] high → critical: Ticket a',
    '[CRITICAL] New ticket: Ticket b',
  ])
})

test('a recipient that the mail server refuses is a warning that names it', async () => {
  const w = world()
  w.channels.refused = ['nobody@example.com']
  await w.round([])
  await w.round([w.ticket('a')])
  const line = w.lines.find(({ message }) => message === 'mail was refused for some recipients')
  assert.deepEqual([line?.level, line?.['refused']], ['WARN', ['nobody@example.com']])
})
