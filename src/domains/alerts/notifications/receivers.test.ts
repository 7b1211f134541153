import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  createAlertsDomain,
  receiverWorld,
  routingOf,
  timedJobs,
} from '../../../../test/support/receiver-world.ts'
import { onEveryDialect } from '../../../../test/support/store.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../../kernel/time.ts'

const ALL = { limit: 100 }

const CHAT_AND_PAGER = {
  names: ['chat', 'mail', 'pager'],
  routes: [
    {
      match: { source: 'platform.*' },
      receivers: ['chat'],
      escalate: [{ afterMs: 15 * MINUTE, receivers: ['pager'] }],
    },
  ],
  defaultReceivers: ['mail'],
} as const

const NIGHTLESS = {
  days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  from: '08:00',
  to: '20:00',
  timeZone: 'UTC',
  critical: false,
} as const

onEveryDialect('receivers of alerts', (dialect) => {
  it('get what their route tells, and others nothing', async () => {
    await using w = await receiverWorld(dialect, CHAT_AND_PAGER)
    await w.report()
    await w.report({ alarmId: 'other', source: 'shop', title: 'Slow' })
    await w.report({ alarmId: 'notice', source: 'shop', title: 'Notice', level: 'INFO' })
    await w.pass()
    assert.deepEqual(w.titles('chat'), ['[ERROR] Backup failed'])
    assert.deepEqual(w.titles('mail'), ['[ERROR] Slow'])
    assert.deepEqual(w.titles('pager'), [])
    const [message] = w.messages.get('chat') ?? []
    assert.match(
      message?.text ?? '',
      /^Alert: https:\/\/shop\.example\.org\/console\/alerts\/[0-9a-f-]{36}$/m,
    )
  })

  it('of another route get an alert that has moved to it, also by its escalation', async () => {
    await using w = await receiverWorld(dialect, CHAT_AND_PAGER)
    await w.report({ source: 'shop', level: 'CRITICAL' })
    await w.pass()
    await w.report({ source: 'platform.backup' })
    await w.pass(20 * MINUTE, 20 * MINUTE)
    assert.deepEqual(w.titles('mail'), ['[CRITICAL] Backup failed'])
    assert.deepEqual(w.titles('chat'), ['[ERROR] Backup failed'])
    assert.deepEqual(w.titles('pager'), ['[ESCALATED ERROR] Backup failed'])
    await w.report({ source: 'platform.backup', level: 'CLOSE' })
    await w.pass()
    for (const name of CHAT_AND_PAGER.names) assert.equal(w.titles(name).at(-1), '[RECOVERED] Backup failed')
  })

  it('of an escalation get the alert that nobody has acknowledged, and then its end', async () => {
    await using w = await receiverWorld(dialect, CHAT_AND_PAGER)
    const { alert } = await w.report()
    await w.pass(14 * MINUTE, 14 * MINUTE)
    assert.deepEqual(w.titles('pager'), [])
    const planned = async () => (await w.explainRoute(alert.id)).receivers.map(({ because }) => because)
    assert.deepEqual(await planned(), ['told', 'escalation'])
    await w.report({ alarmId: 'backup.failed.critical', level: 'CRITICAL' })
    assert.deepEqual(await planned(), ['told', 'inhibited'])
    await w.report({ alarmId: 'backup.failed.critical', level: 'CLOSE' })
    await w.pass(MINUTE, MINUTE)
    assert.deepEqual(w.titles('pager'), ['[ESCALATED ERROR] Backup failed'])
    await w.pass(HOUR, HOUR)
    assert.equal(w.titles('pager').length, 1)
    await w.report({ level: 'CLOSE' })
    await w.pass()
    assert.deepEqual(w.titles('pager').at(-1), '[RECOVERED] Backup failed')
    assert.deepEqual(w.titles('chat'), ['[ERROR] Backup failed', '[RECOVERED] Backup failed'])
  })

  it('of an escalation get an alert also after another route was put before its own', async () => {
    await using w = await receiverWorld(dialect, CHAT_AND_PAGER)
    const { alert } = await w.report()
    await w.pass()
    const routes = [{ match: { source: 'shop' }, receivers: ['mail'] }, ...CHAT_AND_PAGER.routes]
    const restarted = createAlertsDomain({
      store: w.store,
      clock: w.clock,
      channels: w.channels,
      routing: routingOf(routes, ['mail']),
    })
    const planned = (await restarted.explainRoute(alert.id)).receivers.map(({ name }) => name)
    assert.deepEqual(planned, ['chat', 'pager'])
    w.clock.advance(15 * MINUTE)
    for (const job of timedJobs(restarted)) await job.run(new AbortController().signal)
    await w.pass()
    assert.deepEqual(w.titles('pager'), ['[ESCALATED ERROR] Backup failed'])
    assert.deepEqual(w.titles('chat'), ['[ERROR] Backup failed'])
  })

  it('of an escalation get nothing of an alert that was acknowledged or has recovered, nor its end', async () => {
    await using w = await receiverWorld(dialect, CHAT_AND_PAGER)
    const { alert } = await w.report()
    await w.pass()
    await w.store.write((tx) => w.alerts.acknowledge(tx, alert.id, null, 'ada'))
    await w.pass(20 * MINUTE, 20 * MINUTE)
    await w.report({ level: 'CLOSE' })
    await w.report({ alarmId: 'short' })
    await w.pass()
    await w.report({ alarmId: 'short', level: 'CLOSE' })
    await w.pass(20 * MINUTE, 20 * MINUTE)
    assert.deepEqual(w.titles('pager'), [])
  })

  it('are told again while an alert fires and nobody acknowledges it', async () => {
    const routes = [{ receivers: ['chat'], repeatEveryMs: 4 * HOUR }]
    await using w = await receiverWorld(dialect, { names: ['chat'], routes })
    const { alert } = await w.report()
    await w.pass()
    for (let hour = 0; hour < 9; hour++) await w.pass(HOUR, HOUR)
    assert.deepEqual(w.titles('chat'), [
      '[ERROR] Backup failed',
      '[STILL FIRING ERROR] Backup failed',
      '[STILL FIRING ERROR] Backup failed',
    ])
    await w.store.write((tx) => w.alerts.acknowledge(tx, alert.id, null, 'ada'))
    await w.pass(3 * HOUR, HOUR)
    assert.equal(w.titles('chat').length, 3)
  })

  it('delay no other, and are reported to the others after 15 minutes of failure', async () => {
    await using w = await receiverWorld(dialect, {
      names: ['chat', 'mail'],
      defaultReceivers: ['chat', 'mail'],
    })
    w.fail('chat')
    await w.report()
    await w.pass()
    assert.deepEqual(w.titles('mail'), ['[ERROR] Backup failed'])
    const stateOf = async () =>
      (await w.notices.list(ALL)).items.map(({ name, state, pending }) => [name, state, pending])
    assert.deepEqual(await stateOf(), [
      ['chat', 'failing', 1],
      ['mail', 'ok', 0],
    ])
    await w.pass(16 * MINUTE, MINUTE)
    assert.deepEqual(w.titles('mail'), [
      '[ERROR] Backup failed',
      '[ERROR] The receiver chat has failed for 15 minutes',
    ])
    w.mend('chat')
    await w.pass(2 * MINUTE, MINUTE)
    assert.deepEqual(w.titles('mail').at(-1), '[RECOVERED] The receiver chat works again')
    assert.deepEqual(w.titles('chat'), ['[ERROR] Backup failed'])
    assert.deepEqual(await stateOf(), [
      ['chat', 'ok', 0],
      ['mail', 'ok', 0],
    ])
  })

  it('work again after a delivered test, also when nothing waits for them any more', async () => {
    await using w = await receiverWorld(dialect, {
      names: ['chat', 'mail'],
      defaultReceivers: ['chat', 'mail'],
    })
    w.fail('chat')
    await w.report()
    await w.pass(16 * MINUTE, MINUTE)
    await w.report({ level: 'CLOSE' })
    const test = async () => {
      const outcome = await w.notices.test('chat')
      await w.store.write((tx) => w.notices.recordTest(tx, 'chat', outcome))
      const [chat] = (await w.notices.list(ALL)).items
      return [chat?.state, chat?.lastSuccessAt]
    }
    await w.pass(2 * MINUTE, MINUTE)
    assert.equal((await w.notices.list(ALL)).items[0]?.pending, 0)
    assert.deepEqual(await test(), ['failing', null])
    w.mend('chat')
    await w.pass(5 * MINUTE, 5 * MINUTE)
    assert.deepEqual(await test(), ['ok', w.clock.now()])
    await w.pass()
    assert.deepEqual(w.titles('mail').at(-1), '[RECOVERED] The receiver chat works again')
  })

  it('do not fail for a second message that is refused after the first was set aside', async () => {
    await using w = await receiverWorld(dialect, { names: ['chat'], defaultReceivers: ['chat'] })
    w.answers.set('chat', { sent: false, reason: 'bad', retryable: true, fault: 'message' })
    for (const alarmId of ['a', 'b']) {
      await w.report({ alarmId })
      await w.pass(MINUTE)
      const [chat] = (await w.notices.list(ALL)).items
      assert.deepEqual([chat?.state, chat?.pending], ['ok', 0], alarmId)
    }
  })

  it('outside of the hours of a route get one digest at their beginning, of what still fires then', async () => {
    const hours = {
      days: ['mon', 'tue', 'wed', 'thu', 'fri'],
      from: '08:00',
      to: '20:00',
      timeZone: 'UTC',
      critical: false,
    } as const
    const start = Date.UTC(2026, 10, 28, 12)
    await using w = await receiverWorld(dialect, {
      names: ['chat'],
      routes: [{ receivers: ['chat'], hours }],
      start,
      needs: 'about',
    })
    await w.report({ alarmId: 'a', title: 'A', level: 'WARNING' })
    await w.report({ alarmId: 'a', title: 'A' })
    await w.report({ alarmId: 'b', title: 'B', source: 'shop' })
    await w.report({ alarmId: 'c', title: 'C' })
    await w.report({ alarmId: 'd', title: 'D', level: 'CRITICAL' })
    await w.report({ alarmId: 'c', title: 'C', level: 'CLOSE' })
    await w.pass(HOUR, HOUR)
    assert.deepEqual(w.titles('chat'), ['[CRITICAL] D'])
    await w.report({ alarmId: 'd', title: 'D', level: 'CLOSE' })
    await w.pass()
    assert.deepEqual(w.titles('chat'), ['[CRITICAL] D', '[RECOVERED] D'], 'as early as it was told')
    w.clock.advance(Date.UTC(2026, 10, 30, 8) - w.clock.now())
    await w.pass()
    assert.equal(w.titles('chat').length, 3)
    assert.match(w.messages.get('chat')?.[2]?.text ?? '', /^\[ERROR\] A .*\n\[ERROR\] B .*\nAlerts: \S+$/)
    assert.deepEqual(w.messages.get('chat')?.[2]?.about?.occasions, ['digest'])
  })

  it('outside of the hours of a route are told at the beginning that the clock shows, once, also after it was set', async () => {
    const start = Date.UTC(2026, 10, 29, 21)
    const routes = [{ receivers: ['chat'], hours: NIGHTLESS }]
    await using w = await receiverWorld(dialect, { names: ['chat'], routes, start })
    const at = (hour: number, minute = 0) => Date.UTC(2026, 10, 28, hour, minute)
    await w.report()
    w.clock.jump(at(6) - w.clock.now())
    await w.pass(MINUTE, 30 * SECOND)
    assert.deepEqual(w.titles('chat'), [], 'the hours of the day before have not begun')
    w.clock.jump(at(8, 1) - w.clock.now())
    await w.pass(MINUTE, 30 * SECOND)
    assert.deepEqual(w.titles('chat'), ['[ERROR] Backup failed'])
    w.clock.jump(at(7) - w.clock.now())
    await w.pass(MINUTE, 30 * SECOND)
    await w.report({ alarmId: 'other', title: 'Other' })
    w.clock.jump(at(12) - DAY - w.clock.now())
    await w.pass(MINUTE, 30 * SECOND)
    assert.deepEqual(w.titles('chat'), ['[ERROR] Backup failed', '[ERROR] Other'], 'the hours have begun')
    w.clock.jump(at(12) + DAY - w.clock.now())
    await w.pass(MINUTE, 30 * SECOND)
    assert.equal(w.titles('chat').length, 2)
  })

  it('outside of the hours of a route are escalated only after the route has told at their beginning', async () => {
    const start = Date.UTC(2026, 10, 29, 20)
    await using w = await receiverWorld(dialect, {
      names: ['chat', 'pager'],
      routes: [
        {
          receivers: ['chat'],
          hours: NIGHTLESS,
          escalate: [{ afterMs: 15 * MINUTE, receivers: ['pager'] }],
          repeatEveryMs: HOUR,
        },
      ],
      start,
    })
    await w.report()
    await w.pass(2 * HOUR, 30 * MINUTE)
    assert.deepEqual([w.titles('chat'), w.titles('pager')], [[], []])
    w.clock.advance(Date.UTC(2026, 10, 30, 8, 1) - w.clock.now())
    await w.pass()
    assert.deepEqual([w.titles('chat'), w.titles('pager')], [['[ERROR] Backup failed'], []])
    await w.pass(15 * MINUTE, 5 * MINUTE)
    assert.deepEqual(w.titles('pager'), ['[ESCALATED ERROR] Backup failed'])
  })

  it('hear that an alert changes too often, then nothing, and one digest when it is quiet', async () => {
    await using w = await receiverWorld(dialect, { names: ['chat'], defaultReceivers: ['chat'] })
    for (const level of [
      'ERROR',
      'CLOSE',
      'ERROR',
      'CLOSE',
      'ERROR',
      'CLOSE',
      'ERROR',
      'CLOSE',
      'ERROR',
    ] as const) {
      await w.report({ level })
      await w.pass()
    }
    assert.deepEqual(w.titles('chat').slice(6), ['[CHANGES OFTEN] Backup failed'])
    assert.match(
      w.messages.get('chat')?.at(-1)?.text ?? '',
      /7 changes; now ERROR; no more messages until 30 minutes/,
    )
    await w.pass(29 * MINUTE, 29 * MINUTE)
    await w.report({ level: 'CLOSE' })
    await w.pass(29 * MINUTE, 29 * MINUTE)
    assert.equal(w.titles('chat').length, 7)
    await w.pass(2 * MINUTE, MINUTE)
    assert.deepEqual(w.titles('chat').slice(7), ['[CHANGES NO MORE] Backup failed'])
    assert.match(w.messages.get('chat')?.at(-1)?.text ?? '', /10 changes; now recovered/)
  })

  it('repeat a message for the recipients who were put off alone, unless it is outdated', async () => {
    await using w = await receiverWorld(dialect, {
      names: ['mail'],
      defaultReceivers: ['mail'],
      needs: 'about',
    })
    const stateOf = async () => {
      const [mail] = (await w.notices.list(ALL)).items
      return [mail?.state, mail?.lastError, mail?.pending]
    }
    const late = () => (w.messages.get('mail') ?? []).map(({ recipients }) => recipients)
    const warning = 'Put off for boss@example.org (450 Greylisted).'
    w.answers.set('mail', { sent: true, answer: 'thanks', warning, missed: ['boss@example.org'] })
    await w.report()
    await w.pass()
    assert.deepEqual(await stateOf(), ['ok', warning, 1])
    assert.deepEqual([late(), w.titles('mail')], [[undefined], ['[ERROR] Backup failed']])
    w.answers.set('mail', { sent: false, reason: '450 Greylisted', retryable: true, fault: 'recipients' })
    await w.pass(2 * MINUTE, MINUTE)
    assert.deepEqual(await stateOf(), ['ok', 'Put off for boss@example.org: 450 Greylisted', 1])
    w.mend('mail')
    await w.report({ alarmId: 'other', title: 'Other' })
    await w.pass()
    assert.deepEqual(w.titles('mail'), ['[ERROR] Backup failed', '[ERROR] Other'], 'nobody waits for it')
    await w.pass(4 * MINUTE, MINUTE)
    assert.deepEqual(late(), [undefined, undefined, ['boss@example.org']])
    assert.equal((await stateOf())[2], 0)

    w.answers.set('mail', { sent: true, answer: 'thanks', warning, missed: ['boss@example.org'] })
    await w.report({ alarmId: 'short', title: 'Short' })
    await w.pass()
    w.mend('mail')
    await w.report({ alarmId: 'short', title: 'Short', level: 'CLOSE' })
    await w.pass()
    await w.pass(4 * MINUTE, MINUTE)
    assert.deepEqual(w.titles('mail').slice(3), ['[ERROR] Short', '[RECOVERED] Short'])

    w.answers.set('mail', { sent: true, answer: 'thanks', warning, missed: ['boss@example.org'] })
    await w.report({ alarmId: 'gone', title: 'Gone' })
    await w.pass()
    w.answers.set('mail', { sent: false, reason: '550 No mailbox', retryable: false, fault: 'recipients' })
    await w.pass(2 * MINUTE, MINUTE)
    assert.deepEqual(await stateOf(), ['ok', 'Given up for boss@example.org: 550 No mailbox', 0])
  })

  it('get a notice once, after the commit', async () => {
    await using w = await receiverWorld(dialect, { names: ['chat', 'mail'] })
    const notice = {
      key: 'execution-1',
      title: 'Approval',
      text: 'ada asks',
      url: 'https://shop.example.org/x',
    }
    w.fail('chat')
    for (let time = 0; time < 2; time++) {
      await w.store.write((tx) => w.notices.tell(tx, ['chat', 'mail', 'nobody'], notice))
    }
    await w.pass()
    assert.deepEqual(w.titles('mail'), ['Approval'])
    assert.deepEqual(w.titles('chat'), [])
    w.mend('chat')
    await w.pass(2 * MINUTE, MINUTE)
    assert.deepEqual(w.titles('chat'), ['Approval'])
    assert.deepEqual(w.messages.get('chat')?.[0]?.links, [{ kind: 'open', url: notice.url }])
  })
})
