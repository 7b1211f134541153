import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type FakeClock, fakeClock } from '../../test/support/clock.ts'
import { memoryStateStore, type NotifierDisk } from '../../test/support/memory-state-store.ts'
import { type Alert, FetchError } from './api.ts'
import { createLog } from './log.ts'
import type { ChannelOutcome, Notification, NotifyResult } from './notification.ts'
import { type RoundSettings, runRound, SaveError, type Tally } from './round.ts'
import { parseTicketList } from './tickets.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

interface LogLine {
  readonly level: string
  readonly message: string
  readonly [field: string]: unknown
}

/** A notifier whose platform, channels and disk are in hand. */
function world(settings: Partial<RoundSettings> = {}) {
  const clock: FakeClock = fakeClock(Date.UTC(2026, 10, 21, 2))
  const disk: NotifierDisk = { state: undefined, ledger: undefined, aside: [] }
  const told: Notification[] = []
  const alerts: Alert[] = []
  const platform = { takesAlerts: true }
  const lines: LogLine[] = []
  const channels: { mail: ChannelOutcome; robot: ChannelOutcome } = { mail: 'sent', robot: 'sent' }
  const now = () => new Date(clock.now()).toISOString()
  const round = (
    tickets: readonly object[],
    hooks: { onSend?: () => void; onWrite?: (what: string) => void } = {},
  ): Promise<Tally> => {
    let stopping = false
    return runRound(
      {
        log: createLog({ write: (text) => lines.push(JSON.parse(text) as LogLine) }, clock.now),
        store: memoryStateStore(disk, { beforeWrite: hooks.onWrite ?? (() => {}), afterWrite() {} }),
        now: clock.now,
        monotonic: clock.monotonic,
        async fetch() {
          return parseTicketList(tickets) ?? assert.fail()
        },
        async send(notification): Promise<NotifyResult> {
          told.push(notification)
          hooks.onSend?.()
          if (hooks.onSend) stopping = true
          return { ...channels, reasons: {} }
        },
        async reportAlert(alert) {
          alerts.push(alert)
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
  return { clock, disk, told, alerts, platform, lines, channels, round, ticket, entries, now }
}

test('the first round writes the snapshot and tells nobody', async () => {
  const w = world()
  const tally = await w.round([w.ticket('a'), w.ticket('b')])
  assert.deepEqual(w.told, [])
  assert.deepEqual(Object.keys(w.entries()), ['a', 'b'])
  assert.deepEqual([tally.fetched, tally.new, tally.sent], [2, 2, 0])
})

test('an unreadable state sends nothing, is kept aside and is reported to the platform once', async () => {
  const w = world()
  w.disk.state = '{"a":'
  await w.round([w.ticket('a')])
  assert.deepEqual(w.told, [])
  assert.deepEqual(
    w.alerts.map(({ alarm_id, title, level, server_addr }) => [alarm_id, title, level, server_addr]),
    [['ticket-notify.state', 'ticket-notify.state', 'HIGH', 'host-1']],
  )
  assert.match(
    w.alerts[0]?.body ?? '',
    /^weight=5 alarm_id=ticket-notify\.state\nThe state file \/state\.json is unreadable/,
  )
  assert.deepEqual(w.disk.aside, ['{"a":'])
  assert.deepEqual(Object.keys(w.entries()), ['a'])
  assert.ok(w.lines.some(({ level, message }) => level === 'ERROR' && message.includes('unreadable')))
  await w.round([w.ticket('a')])
  assert.deepEqual([w.told.length, w.alerts.length], [0, 1])
})

test('an alert that the platform refuses is logged, and named in the next digest', async () => {
  const w = world()
  w.disk.state = 'rubbish'
  w.platform.takesAlerts = false
  await w.round([])
  assert.ok(w.lines.some(({ message, reason }) => message.includes('alert') && reason === 'HTTP status 503'))
  w.clock.advance(DAY)
  await w.round([])
  assert.match(w.told.at(-1)?.text ?? '', /ticket-notify\.state/)
})

test('an unreadable state stays as it is when the new one cannot be saved', async () => {
  const w = world()
  w.disk.state = 'rubbish'
  const full = () => {
    throw new Error('no space left on device')
  }
  await assert.rejects(w.round([w.ticket('a')], { onWrite: full }), SaveError)
  assert.equal(w.disk.state, 'rubbish')
})

test('a seeding round keeps an unreadable state aside, too', async () => {
  const w = world({ seedOnly: true })
  w.disk.state = 'rubbish'
  await w.round([w.ticket('a')])
  assert.deepEqual([w.told.length, w.disk.aside], [0, ['rubbish']])
})

for (const state of [undefined, 'rubbish']) {
  test(`a first round sends no digest either (state: ${state})`, async () => {
    const w = world()
    await w.round([])
    await w.round([w.ticket('low', { level: 'low' })])
    w.clock.advance(DAY)
    w.disk.state = state
    await w.round([])
    assert.deepEqual(w.told, [])
    await w.round([])
    assert.deepEqual(
      w.told.map(({ category }) => category),
      ['digest'],
    )
  })
}

test('a digest is not sent when its day cannot be written: it would be sent in each round', async () => {
  const w = world()
  await w.round([])
  await w.round([w.ticket('low', { level: 'low' })])
  w.clock.advance(DAY)
  const ledgerOnly = (what: string) => {
    if (what === 'ledger') throw new Error('no space left on device')
  }
  for (let n = 0; n < 2; n++) await assert.rejects(w.round([], { onWrite: ledgerOnly }), SaveError)
  assert.deepEqual(w.told, [])
})

test('a seeding round adds to what is known, and forgets nothing', async () => {
  const w = world()
  await w.round([w.ticket('a')])
  const seeding = world({ seedOnly: true })
  seeding.disk.state = w.disk.state
  await seeding.round([seeding.ticket('b')])
  assert.deepEqual(Object.keys(seeding.entries()).sort(), ['a', 'b'])
})

test('a ticket that is new to the snapshot is told, once', async () => {
  const w = world()
  await w.round([])
  const ticket = w.ticket('a')
  assert.equal((await w.round([ticket])).sent, 1)
  assert.equal((await w.round([ticket])).sent, 0)
  assert.deepEqual(
    w.told.map(({ title, key, level }) => [title, key, level]),
    [['[CRITICAL] New ticket: Ticket a', 'ticket:a:new:', 'critical']],
  )
})

test('a status that differs from the snapshot is told, even for level info', async () => {
  const w = world()
  await w.round([w.ticket('a', { level: 'info' })])
  const tally = await w.round([w.ticket('a', { level: 'info', status: 'resolved' })])
  assert.deepEqual([tally.changed, tally.sent], [1, 1])
  assert.equal(w.told[0]?.title, '[INFO] open → resolved: Ticket a')
  assert.equal(w.entries()['a']?.status, 'resolved')
})

test('each change has a key of its own, which a repetition of the same one keeps', async () => {
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
  const [failed, repeated, reopened, closedAgain] = w.told.map(({ key }) => key)
  assert.equal(failed, repeated)
  assert.equal(new Set([repeated, reopened, closedAgain]).size, 3)
})

test('what else changes is remembered, and told to nobody', async () => {
  const w = world()
  await w.round([w.ticket('a')])
  w.clock.advance(MINUTE)
  await w.round([w.ticket('a', { title: 'Other', level: 'low' })])
  assert.deepEqual(w.told, [])
  assert.deepEqual(w.entries()['a'], { status: 'open', level: 'low', title: 'Other', updated_at: w.now() })
})

// spec, rule 6, and the last row of "Notifier per ticket"
const OUTCOMES: readonly [
  mail: ChannelOutcome,
  robot: ChannelOutcome,
  counted: 'sent' | 'unheard' | 'failed',
][] = [
  ['sent', 'sent', 'sent'],
  ['sent', 'skipped', 'sent'],
  ['sent', 'failed', 'sent'],
  ['skipped', 'sent', 'sent'],
  ['skipped', 'skipped', 'unheard'],
  ['skipped', 'failed', 'unheard'],
  ['failed', 'sent', 'sent'],
  ['failed', 'skipped', 'unheard'],
  ['failed', 'failed', 'failed'],
]

for (const [mail, robot, counted] of OUTCOMES) {
  test(`mail ${mail} and robot ${robot}: ${counted === 'failed' ? 'tried again in the next round' : 'done'}, counted as ${counted}`, async () => {
    const w = world()
    await w.round([w.ticket('known')])
    Object.assign(w.channels, { mail, robot })
    const tickets = [w.ticket('known', { status: 'closed' }), w.ticket('fresh')]
    const tally = await w.round(tickets)
    assert.equal(tally[counted], 2)
    const advanced = counted !== 'failed'
    assert.equal(w.entries()['known']?.status, advanced ? 'closed' : 'open')
    assert.equal('fresh' in w.entries(), advanced)
    Object.assign(w.channels, { mail: 'sent', robot: 'sent' })
    assert.equal((await w.round(tickets)).sent, advanced ? 0 : 2)
    const digest = w.disk.ledger ?? ''
    assert.equal(digest.includes('Ticket fresh'), counted === 'unheard')
  })
}

test('at most so many are told in a round; the others keep their place, the longest waiting first', async () => {
  const w = world({ maxNotify: 2 })
  await w.round([w.ticket('x')])
  const tickets = [5, 3, 1, 4, 2].map((n) =>
    w.ticket(`t${n}`, { updated_at: new Date(w.clock.now() + n).toISOString() }),
  )
  const tallies = [await w.round(tickets), await w.round(tickets), await w.round(tickets)]
  assert.deepEqual(
    tallies.map(({ sent, suppressed }) => [sent, suppressed.budget]),
    [
      [2, 3],
      [2, 1],
      [1, 0],
    ],
  )
  assert.deepEqual(
    w.told.map(({ title }) => title.at(-1)),
    ['1', '2', '3', '4', '5'],
  )
  assert.ok(!w.disk.ledger?.includes('Ticket t'), 'whoever was told in the end is not in the digest')
})

test('an attempt that failed has used its place in the budget', async () => {
  const w = world({ maxNotify: 1 })
  await w.round([])
  Object.assign(w.channels, { mail: 'failed', robot: 'failed' })
  const tally = await w.round([w.ticket('a'), w.ticket('b')])
  assert.deepEqual([tally.failed, tally.suppressed.budget, w.told.length], [1, 1, 1])
})

test('each suppressed ticket but those of the budget counts once and advances', async () => {
  const w = world()
  await w.round([w.ticket('changed')])
  const old = new Date(w.clock.now() - 2 * 60 * MINUTE).toISOString()
  const tickets = [
    w.ticket('old', { created_at: old }),
    w.ticket('changed', { status: 'closed', updated_at: old }),
    w.ticket('low', { level: 'low' }),
    w.ticket('test', { title: 'SELFTEST' }),
  ]
  const tally = await w.round(tickets)
  assert.deepEqual(tally.suppressed, { too_old: 1, too_old_transition: 1, level: 1, test: 1, budget: 0 })
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

test('a ticket that is absent from one answer is not forgotten', async () => {
  const w = world()
  const ticket = w.ticket('a')
  await w.round([ticket])
  await w.round([])
  await w.round([ticket])
  assert.deepEqual(w.told, [])
})

test('entries without an update for the keep period are pruned, unless their ticket is listed', async () => {
  const w = world()
  const listed = w.ticket('listed')
  await w.round([listed, w.ticket('gone')])
  w.clock.advance(30 * DAY + 1)
  const tally = await w.round([listed])
  assert.equal(tally.pruned, 1)
  assert.deepEqual(Object.keys(w.entries()), ['listed'])
})

test('as many tickets as were asked for make a warning', async () => {
  const w = world({ limit: 2 })
  const warnings = () => w.lines.filter(({ level }) => level === 'WARN').length
  await w.round([w.ticket('a')])
  assert.equal(warnings(), 0)
  await w.round([w.ticket('a'), w.ticket('b')])
  assert.equal(warnings(), 1)
  assert.match(w.lines.find(({ level }) => level === 'WARN')?.message ?? '', /may have been missed/)
})

test('a status that is or was unknown is no change', async () => {
  const w = world()
  await w.round([w.ticket('a'), { id: 'b' }])
  await w.round([w.ticket('a', { status: undefined }), w.ticket('b')])
  await w.round([w.ticket('a'), w.ticket('b')])
  assert.deepEqual(w.told, [])
})

test('the first round of a day tells what the day before was not told, and why; the next ones do not', async () => {
  const w = world()
  await w.round([])
  await w.round([w.ticket('low', { level: 'low' }), w.ticket('test', { title: '验收 1' })])
  await w.round([])
  assert.equal(w.told.length, 0)
  w.clock.advance(DAY)
  await w.round([w.ticket('later', { level: 'info' })])
  await w.round([])
  assert.deepEqual(
    w.told.map(({ category, title }) => [category, title]),
    [['digest', '[INFO] 3 ticket notifications were not sent']],
  )
  const { text } = w.told[0] ?? assert.fail()
  for (const line of [
    'New, but of a low level: 2',
    '- [LOW] New ticket: Ticket low',
    'Marked as a test: 1',
  ]) {
    assert.ok(text.includes(line), text)
  }
  w.clock.advance(DAY)
  await w.round([])
  assert.equal(w.told.length, 1, 'a day without anything to tell has no digest')
})

test('a digest counts neither in the budget nor as a ticket notification', async () => {
  const w = world({ maxNotify: 1 })
  await w.round([])
  await w.round([w.ticket('low', { level: 'low' })])
  w.clock.advance(DAY)
  const tally = await w.round([w.ticket('a')])
  assert.deepEqual([tally.sent, w.told.length], [1, 2])
})

test('a flood that waits for its turn through many rounds is counted once', async () => {
  const w = world({ maxNotify: 1, limit: 2_000 })
  await w.round([])
  const flood = Array.from({ length: 1_000 }, (_, n) => w.ticket(`t${n}`))
  for (let n = 0; n < 5; n++) await w.round(flood)
  w.clock.advance(DAY)
  await w.round([])
  const { title } = w.told.at(-1) ?? assert.fail()
  assert.equal(title, '[INFO] 995 ticket notifications were not sent')
})

test('a ticket that has waited in vain is counted once, for what ended its waiting', async () => {
  const w = world({ maxNotify: 1 })
  await w.round([])
  const tickets = [w.ticket('a'), w.ticket('b')]
  assert.equal((await w.round(tickets)).suppressed.budget, 1)
  w.clock.advance(61 * MINUTE)
  assert.equal((await w.round(tickets)).suppressed.too_old, 1)
  w.clock.advance(DAY)
  await w.round([])
  const { title, text } = w.told.at(-1) ?? assert.fail()
  assert.equal(title, '[INFO] 1 ticket notification was not sent')
  assert.match(text, /opened too long ago: 1/)
})

test('an account that was begun under a clock that was ahead is told the day after, not years later', async () => {
  const w = world()
  w.clock.advance(400 * DAY)
  await w.round([])
  await w.round([w.ticket('low', { level: 'low' })])
  w.clock.advance(-400 * DAY)
  await w.round([])
  assert.deepEqual(w.told, [])
  w.clock.advance(DAY)
  await w.round([])
  assert.deepEqual(
    w.told.map(({ title }) => title),
    ['[INFO] 1 ticket notification was not sent'],
  )
})

test('a digest that no channel took is tried again; without the digest nothing is kept for it', async () => {
  const w = world()
  await w.round([])
  await w.round([w.ticket('low', { level: 'low' })])
  w.clock.advance(DAY)
  Object.assign(w.channels, { mail: 'failed', robot: 'skipped' })
  await w.round([])
  Object.assign(w.channels, { mail: 'sent' })
  await w.round([])
  await w.round([])
  assert.equal(w.told.length, 2)

  const silent = world({ digest: false })
  await silent.round([])
  await silent.round([silent.ticket('low', { level: 'low' })])
  silent.clock.advance(DAY)
  await silent.round([])
  assert.deepEqual([silent.told, silent.disk.ledger], [[], undefined])
})

test('a thousand suppressed tickets make a digest that names some and counts all', async () => {
  const w = world()
  await w.round([])
  await w.round(Array.from({ length: 1_000 }, (_, n) => w.ticket(`t${n}`, { level: 'low' })))
  w.clock.advance(DAY)
  await w.round([])
  const { text } = w.told[0] ?? assert.fail()
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
  assert.deepEqual(w.told, [])
})

test('a round whose saving breaks stops sending at once', async () => {
  const w = world()
  await w.round([])
  const fullAfterSending = () => {
    if (w.told.length > 0) throw new Error('no space left on device')
  }
  await assert.rejects(w.round([w.ticket('a'), w.ticket('b')], { onWrite: fullAfterSending }), SaveError)
  assert.equal(w.told.length, 1)
})

test('a round that is asked to stop finishes the send under way, saves, and sends no more', async () => {
  const w = world()
  await w.round([])
  const tally = await w.round([w.ticket('a'), w.ticket('b')], { onSend() {} })
  assert.deepEqual([tally.sent, Object.keys(w.entries())], [1, ['a']])
})

test('a round that is asked to stop sends no digest either; the next one does', async () => {
  const w = world()
  await w.round([])
  await w.round([w.ticket('low', { level: 'low' })])
  w.clock.advance(DAY)
  await w.round([w.ticket('a')], { onSend() {} })
  assert.deepEqual(
    w.told.map(({ category }) => category),
    ['ticket'],
  )
  await w.round([])
  assert.equal(w.told.at(-1)?.category, 'digest')
})

test('a send that is cut off by the stopping is tried again, even where the other channel is not configured', async () => {
  const w = world()
  await w.round([])
  Object.assign(w.channels, { mail: 'skipped', robot: 'failed' })
  const tally = await w.round([w.ticket('a')], { onSend() {} })
  assert.deepEqual([tally.failed, tally.unheard, Object.keys(w.entries())], [1, 0, []])
})

test('a platform that cannot be asked leaves everything as it was', async () => {
  const w = world()
  await w.round([w.ticket('a')])
  const before = structuredClone(w.disk)
  const failing = runRound(
    {
      log: createLog({ write() {} }, w.clock.now),
      store: memoryStateStore(w.disk),
      now: w.clock.now,
      monotonic: w.clock.monotonic,
      fetch: () => Promise.reject(new FetchError('down')),
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
