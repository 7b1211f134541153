import assert from 'node:assert/strict'
import { it, test } from 'node:test'
import { eventually } from '../../../../test/support/eventually.ts'
import { notificationWorld, type NotificationWorld } from '../../../../test/support/notification-world.ts'
import { ROBOT_FAULTS } from '../../../../test/support/robots.ts'
import { onEveryDialect } from '../../../../test/support/store.ts'
import { ROBOT_KINDS } from '../../../config/receivers.ts'
import { HOUR, MINUTE, SECOND } from '../../../kernel/time.ts'

const DINGTALK = { kind: 'dingtalk' } as const

/** How many messages name each of the alerts `#1.`, `#2.` … */
function mentions(shown: readonly string[], count: number): Map<number, number> {
  const found = new Map(Array.from({ length: count }, (_, number) => [number, 0]))
  for (const message of shown)
    for (const [, digits] of message.matchAll(/#(\d+)\./g))
      found.set(Number(digits), (found.get(Number(digits)) ?? 0) + 1)
  return found
}

function assertEachOnce(shown: readonly string[], count: number): void {
  const wrong = [...mentions(shown, count)].filter(([, times]) => times !== 1)
  assert.deepEqual(wrong, [])
}

/** Reports that many alerts of several sources within a second; the last one is CRITICAL. */
async function storm({ store, alerts, clock }: NotificationWorld, count: number, sources: number) {
  const perWrite = 250
  for (let from = 0; from < count; from += perWrite) {
    await store.write(async (tx) => {
      for (let number = from; number < Math.min(from + perWrite, count); number++)
        await alerts.report(tx, stormReport(number, sources, number === count - 1), 'tester')
    })
    clock.advance(Math.floor((SECOND * perWrite) / count))
  }
}

function stormReport(number: number, sources: number, isLast: boolean) {
  return {
    alarmId: null,
    source: `source-${number % sources}`,
    title: `Alert #${number}.`,
    body: '',
    serverAddr: null,
    level: isLast ? 'CRITICAL' : 'ERROR',
  } as const
}

onEveryDialect('sending notifications', (dialect) => {
  it('sends an alert, and decides that it was sent', async () => {
    await using world = await notificationWorld(dialect)
    const { alert } = await world.report({ title: 'Backup failed', alarmId: 'backup.failed' })
    assert.deepEqual(
      (await world.decisions(alert.id)).map(({ outcome, reason }) => [outcome, reason]),
      [['pending', null]],
    )
    world.startSender()
    await world.drain()
    const [text = ''] = world.robots.shown
    assert.match(text, /^\[ERROR\] Backup failed\n/)
    assert.match(text, /No space left\.$/)
    const [decision] = await world.decisions(alert.id)
    assert.equal(decision?.outcome, 'sent')
    assert.match(decision.reason ?? '', /^Sent in message [0-9a-f-]{36}\.$/)
  })

  it('bundles the notifications of one source within a second', async () => {
    await using world = await notificationWorld(dialect)
    const reports = [
      await world.report({ title: 'one' }),
      await world.report({ title: 'other', source: 'other' }),
      await world.report({ title: 'two' }),
    ]
    world.startSender()
    await world.drain()
    assert.equal(world.robots.shown.length, 2)
    const decisions = await Promise.all(reports.map(async ({ alert }) => world.decisions(alert.id)))
    assert.deepEqual(
      decisions.map((list) => list.map(({ outcome }) => outcome)),
      [['bundled'], ['sent'], ['bundled']],
    )
    assert.match(decisions[0]?.[0]?.reason ?? '', /^Sent with 1 other in message [0-9a-f-]{36}\.$/)
  })

  it('pushes a rise and a recovery, and no repetition', async () => {
    await using world = await notificationWorld(dialect)
    world.startSender()
    const levels = ['ERROR', 'ERROR', 'HIGH', 'HIGH', 'CLOSE', 'CLOSE'] as const
    for (const level of levels) {
      await world.report({ title: 'Backup failed', level })
      await world.pass(2 * SECOND)
    }
    const marks = world.robots.shown.map((text) => /^\[\w+\]/.exec(text)?.[0])
    assert.deepEqual(marks, ['[ERROR]', '[HIGH]', '[RECOVERED]'])
  })

  it('survives deaths of its process at any point: nothing is lost, at most one message is repeated by each', async () => {
    await using world = await notificationWorld(dialect)
    const count = 40
    await storm(world, count, 4)
    const deaths = await surviveDeaths(world)
    await world.drain()
    const times = [...mentions(world.robots.shown, count).values()]
    assert.ok(
      times.every((each) => each >= 1),
      'every alert was sent',
    )
    const keys = world.robots.requests.map(({ body }) => (JSON.parse(body) as { key: string }).key)
    assert.ok(keys.length - new Set(keys).size <= deaths, 'a repetition has the key of its message')
    assert.ok(times.every((each) => each - 1 <= keys.length - new Set(keys).size))
  })

  it('sends one message at a time, whatever the number of processes', async () => {
    await using world = await notificationWorld(dialect, { kind: 'feishu' })
    let [sending, most] = [0, 0]
    const channel = {
      rate: world.webhook.rate,
      fits: () => true,
      async send(...args: Parameters<typeof world.webhook.send>) {
        most = Math.max(most, ++sending)
        const outcome = await world.webhook.send(...args)
        sending--
        return outcome
      },
    }
    for (let n = 0; n < 3; n++) {
      const sender = world.sender({ channel })
      world.scope.defer(() => sender.stop())
    }
    for (let n = 0; n < 12; n++) await world.report({ title: `Alert #${n}.`, source: `source ${n}` })
    await world.drain()
    assertEachOnce(world.robots.shown, 12)
    assert.equal(most, 1)
    assert.equal(world.robots.requests.length, world.robots.shown.length, 'no limit was broken')
  })

  it('gives up after 24 hours, counted for each notification from its own time', async () => {
    await using world = await notificationWorld(dialect)
    world.robots.behave((response) => void response.writeHead(503).end('later'))
    world.startSender()
    const { alert: first } = await world.report({ title: 'first' })
    await world.pass(4 * HOUR, 2 * HOUR)
    const { alert: second } = await world.report({ title: 'second' })
    await world.pass(20 * HOUR - 5 * MINUTE, 4 * HOUR - MINUTE)
    await world.pass(6 * MINUTE, 30 * SECOND)
    const [given] = await world.decisions(first.id)
    assert.equal(given?.outcome, 'failed')
    assert.match(given.reason ?? '', /^Given up after 24 hours\. Attempt \d+ has failed: HTTP 503 later$/)
    assert.equal((await world.decisions(second.id))[0]?.outcome, 'pending')
    world.robots.behave(undefined)
    await world.drain(MINUTE)
    assert.equal((await world.decisions(second.id))[0]?.outcome, 'sent')
    assert.equal(world.robots.shown.length, 1)
  })

  it('keeps the rate limit over restarts', async () => {
    await using world = await notificationWorld(dialect, DINGTALK)
    for (let n = 0; n < 25; n++) {
      const sender = world.sender()
      await world.report({ title: `Alert #${n}.` })
      await world.pass(1_500)
      await sender.stop()
    }
    world.startSender()
    await world.drain()
    assertEachOnce(world.robots.shown, 25)
    assert.equal(world.robots.requests.length, world.robots.shown.length, 'no limit was broken')
  })
})

/** Starts senders that die at a point of their work, one after the other; returns how many. */
async function surviveDeaths(world: NotificationWorld): Promise<number> {
  let deaths = 0
  for (let calls = 1; (await world.pending()) > 0 && calls <= 8; calls++) {
    for (const isDone of [false, true]) {
      await liveFor(world, calls, isDone)
      deaths++
      // Until the lease of its message has expired.
      world.clock.advance(20 * SECOND)
    }
  }
  world.startSender()
  return deaths
}

/** A sender whose calls to the outside end for ever after some of them, before or after the last one has its effect. */
async function liveFor(world: NotificationWorld, calls: number, isDone: boolean): Promise<void> {
  let isDead = false
  const activity = { calls: 0 }
  const forEver = new Promise<never>(() => undefined)
  let done = 0
  const mortal = async <T>(run: () => Promise<T>): Promise<T> => {
    if (++done < calls) return run()
    if (done === calls && isDone) await run()
    isDead = true
    return forEver
  }
  const { store, webhook } = world
  world.sender({
    activity,
    store: { ...store, write: (work, options) => mortal(() => store.write(work, options)) },
    channel: {
      rate: webhook.rate,
      fits: (message) => webhook.fits(message),
      send: (message, signal) => mortal(() => webhook.send(message, signal)),
    },
  })
  while (!isDead) {
    await eventually('the sender is idle or dead', () => isDead || world.isIdle(activity))
    world.clock.advance(SECOND / 2)
  }
}

test('a storm of 5,000 alerts of 50 sources: each is in one message, CRITICAL within 60 s, no limit broken', async () => {
  await using world = await notificationWorld('sqlite', DINGTALK)
  await storm(world, 5_000, 50)
  const start = world.clock.now()
  world.startSender()
  await world.pass(5 * SECOND)
  const critical = world.robots.shown.findIndex((text) => text.includes('#4999.'))
  assert.ok(critical >= 0 && world.clock.now() - start <= 60 * SECOND, 'CRITICAL is sent first')
  await world.drain(2 * SECOND)
  assertEachOnce(world.robots.shown, 5_000)
  assert.equal(world.robots.requests.length, world.robots.shown.length, 'no limit was broken')
})

for (const kind of ROBOT_KINDS) {
  test(`a storm of 300 alerts of 50 sources at ${kind}: each is in one message, no limit broken`, async () => {
    await using world = await notificationWorld('sqlite', { kind })
    await storm(world, 300, 50)
    world.startSender()
    await world.drain()
    assertEachOnce(world.robots.shown, 300)
    assert.equal(world.robots.requests.length, world.robots.shown.length, 'no limit was broken')
  })
}

const OUTAGES = {
  'is away': ROBOT_FAULTS['resets the connection'],
  hangs: ROBOT_FAULTS['accepts and says nothing'],
  'refuses with an error': ROBOT_FAULTS['answers 500'],
  'refuses its token': ROBOT_FAULTS['echoes its address'],
} as const

for (const [what, behaviour] of Object.entries(OUTAGES)) {
  test(`a robot that ${what} for ten minutes gets each alert once afterwards, within 90 seconds`, async () => {
    await using world = await notificationWorld('sqlite', DINGTALK)
    const impatient = world.webhookWith({ timeoutMs: 100 })
    let current = impatient
    const sender = world.sender({
      channel: {
        rate: impatient.rate,
        fits: (message) => impatient.fits(message),
        send: (message, signal) => current.send(message, signal),
      },
    })
    world.scope.defer(() => sender.stop())
    world.robots.behave(behaviour)
    for (let minute = 0; minute < 10; minute++) {
      for (let n = 0; n < 5; n++)
        await world.report({ title: `Alert #${minute * 5 + n}.`, source: `source ${n}` })
      await world.pass(MINUTE, 20 * SECOND)
    }
    const attempts = world.robots.requests.length
    assert.ok(attempts >= 5 && attempts <= 200, `${attempts} attempts`)
    assert.equal(world.robots.shown.length, 0)
    world.robots.behave(undefined)
    current = world.webhook
    assert.ok((await world.drain()) <= 90 * SECOND)
    assertEachOnce(world.robots.shown, 50)
    assert.equal(world.robots.requests.length - attempts, world.robots.shown.length, 'no limit was broken')
  })
}

/** Refuses, with that status, each message whose text has the word; accepts the others. */
function poison(world: NotificationWorld, status: number): void {
  world.robots.behaveOn(({ body }) =>
    body.includes('poison') ? (response) => void response.writeHead(status).end('not that word') : undefined,
  )
}

const firstLines = (world: NotificationWorld) => world.robots.shown.map((text) => text.split('\n')[0])

test('one message that the robot answers with 500 delays no other, CRITICAL included', async () => {
  await using world = await notificationWorld('sqlite', { kind: 'generic' })
  poison(world, 500)
  world.startSender()
  await world.report({ title: 'poison', level: 'CRITICAL' })
  await world.pass(10 * MINUTE, MINUTE)
  const start = world.clock.now()
  await world.report({ title: 'critical', source: 'a', level: 'CRITICAL' })
  await world.report({ title: 'warning', source: 'b', level: 'WARNING' })
  while (world.robots.shown.length < 2) await world.pass(SECOND / 2)
  assert.ok(world.clock.now() - start <= 3 * SECOND, `${world.clock.now() - start} ms`)
  assert.deepEqual(firstLines(world), ['[CRITICAL] critical', '[WARNING] warning'])
  world.robots.behaveOn(undefined)
  await world.drain(SECOND)
  assert.equal(world.robots.shown.length, 3)
})

test('a message that the robot alone refuses is set aside after three tries, with the reason; the others are sent', async () => {
  await using world = await notificationWorld('sqlite', { kind: 'generic' })
  poison(world, 400)
  world.startSender()
  const { alert: refused } = await world.report({ title: 'poison', level: 'CRITICAL' })
  await world.pass(2 * SECOND)
  const { alert } = await world.report({ title: 'other' })
  await world.drain()
  assert.deepEqual(firstLines(world), ['[ERROR] other'])
  assert.equal((await world.decisions(alert.id))[0]?.outcome, 'sent')
  const [decision] = await world.decisions(refused.id)
  assert.deepEqual(
    [decision?.outcome, decision?.reason],
    ['failed', 'Set aside after 3 refusals. Attempt 3 has failed: HTTP 400 not that word'],
  )
  assert.equal(world.robots.requests.length, 3 + 1)
})

test('several messages that the robot refuses hold up no other, and are set aside once others were accepted', async () => {
  await using world = await notificationWorld('sqlite', { kind: 'generic' })
  poison(world, 400)
  world.startSender()
  for (let n = 0; n < 3; n++) await world.report({ title: `poison ${n}`, source: `s${n}`, level: 'CRITICAL' })
  await world.pass(10 * MINUTE, MINUTE)
  assert.equal(await world.pending(), 3)
  for (let n = 0; n < 12; n++) {
    await world.report({ title: `other ${n}`, source: 'other' })
    await world.pass(2 * MINUTE, MINUTE / 2)
    assert.equal(world.robots.shown.length, n + 1)
  }
  const failed = await world.rows<{ reason: string }>(
    `select reason from alert_notifications where outcome = 'failed'`,
  )
  assert.equal(failed.length, 3)
  for (const { reason } of failed) assert.match(reason, /^Set aside after 3 refusals\. /)
})

test('of a bundle only what the robot refuses is set aside', async () => {
  await using world = await notificationWorld('sqlite', { kind: 'generic' })
  poison(world, 400)
  world.startSender()
  for (let n = 0; n < 15; n++) await world.report({ title: `Alert #${n}.` })
  const { alert } = await world.report({ title: 'poison' })
  await world.drain()
  assertEachOnce(world.robots.shown, 15)
  assert.equal((await world.decisions(alert.id))[0]?.outcome, 'failed')
})

for (const status of [401, 400]) {
  test(`nothing is set aside while the robot answers everything with ${status}; the most severe is tried and sent first`, async () => {
    await using world = await notificationWorld('sqlite', { kind: 'generic' })
    world.robots.behave((response) => void response.writeHead(status).end('no'))
    world.startSender()
    const levels = ['WARNING', 'ERROR', 'HIGH', 'CRITICAL'] as const
    await Promise.all(levels.map((level, n) => world.report({ title: `Alert #${n}.`, source: level, level })))
    await world.pass(20 * SECOND, SECOND)
    await world.pass(HOUR, 5 * MINUTE)
    const before = world.robots.requests.length
    assert.ok(before < 50, `${before} attempts`)
    world.robots.behave(undefined)
    await world.drain(SECOND)
    // A message that was made while the robot was away may have several of them.
    assertEachOnce(world.robots.shown, 4)
    assert.match(world.robots.shown[0] ?? '', /^\[CRITICAL\] /)
    assert.deepEqual(await world.rows(`select id from alert_notifications where outcome = 'failed'`), [])
  })
}

test('a message that the robot refuses does not hold up the others', async () => {
  await using world = await notificationWorld('sqlite', { kind: 'generic' })
  world.robots.behave((response) => {
    response.writeHead(422).end('not that word')
    world.robots.behave(undefined)
  })
  world.startSender()
  const { alert: refused } = await world.report({ title: 'refused' })
  await world.pass(1_500)
  assert.match(
    (await world.decisions(refused.id))[0]?.reason ?? '',
    /^Attempt 1 has failed: HTTP 422 not that word$/,
  )
  await world.report({ title: 'other' })
  await world.drain()
  const titles = firstLines(world)
  assert.deepEqual(new Set(titles), new Set(['[ERROR] other', '[ERROR] refused']))
  assert.equal(titles.length, 2)
})

test('a pause that the robot asks for holds for all messages', async () => {
  await using world = await notificationWorld('sqlite', { kind: 'slack' })
  world.robots.behave((response) => {
    response.writeHead(429, { 'retry-after': '120' }).end('rate_limited')
    world.robots.behave(undefined)
  })
  world.startSender()
  await world.report({ title: 'first' })
  await world.pass(2 * SECOND)
  await world.report({ title: 'second', source: 'other' })
  await world.pass(100 * SECOND, 10 * SECOND)
  assert.equal(world.robots.requests.length, 1)
  await world.drain()
  assert.equal(world.robots.shown.length, 2)
})

test('a stopped sender leaves a message that another one sends at once', async () => {
  await using world = await notificationWorld('sqlite')
  const arrived = Promise.withResolvers<void>()
  world.robots.behave(() => arrived.resolve())
  const stopped = world.sender()
  await world.report({ title: 'first' })
  await world.idle()
  world.clock.advance(2 * SECOND)
  await arrived.promise
  await stopped.stop()
  world.robots.behave(undefined)
  world.startSender()
  await world.drain()
  assert.equal(world.robots.shown.length, 1)
})
