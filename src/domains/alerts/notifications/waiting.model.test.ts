import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { notificationWorld, type NotificationWorld } from '../../../../test/support/notification-world.ts'
import { ROBOT_FAULTS } from '../../../../test/support/robots.ts'
import { onEveryDialect } from '../../../../test/support/store.ts'
import { HOUR, MINUTE, SECOND } from '../../../kernel/time.ts'
import type { AlertStatus } from '../model.ts'
import { SETTLE_MS } from '../silences/model.ts'
import type { OccasionKind, Outcome } from './model.ts'

const NAMES = ['a', 'a.critical', 'b'] as const

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('ERROR', 'CRITICAL', 'CRITICAL', 'CLOSE', 'CLOSE'),
      name: fc.constantFrom(...NAMES),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('acknowledge', 'recover', 'unfreeze', 'silence', 'silence'),
      name: fc.constantFrom(...NAMES),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('short', 'long', 'long', 'break', 'mend', 'end silences'),
      name: fc.constant('a'),
    }),
  },
)

interface Row {
  readonly id: string
  readonly name: string
  readonly status: AlertStatus
  readonly now: number
  readonly occasion: OccasionKind
  readonly outcome: Outcome
  readonly weight: number
}

const ROWS = `select n.alert_id as id, a.alarm_id as name, a.status, a.weight as now, n.occasion, n.outcome, n.weight
  from alert_notifications n join alerts a on a.id = n.alert_id`

const isPushed = ({ outcome }: Row) => ['pending', 'sent', 'bundled'].includes(outcome)
const isEnd = ({ occasion, weight }: Row) =>
  occasion === 'recovered' || (occasion === 'unfrozen' && Number(weight) === 0)
const isOfFreeze = ({ occasion }: Row) => occasion === 'frozen' || occasion === 'unfrozen'

/** How many notifications the messages name. */
const named = (shown: readonly string[]) =>
  shown.reduce((sum, message) => sum + Number(/ (\d+) notifications of /.exec(message)?.[1] ?? 1), 0)

/** One sequence of steps, with names of its own. */
class Sequence {
  readonly #world: NotificationWorld
  readonly #prefix: string
  readonly #ids = new Map<string, string>()

  constructor(world: NotificationWorld, run: number) {
    this.#world = world
    this.#prefix = `run-${run}.`
  }

  async take(kind: string, name: string): Promise<void> {
    const { alerts, clock, robots, silences, store } = this.#world
    const id = this.#ids.get(name) ?? 'nowhere'
    if (kind === 'ERROR' || kind === 'CRITICAL' || kind === 'CLOSE') return this.#report(name, kind)
    if (kind === 'break') return robots.behave(ROBOT_FAULTS['answers 500'])
    if (kind === 'mend') return robots.behave(undefined)
    if (kind === 'short') return this.#world.pass(SECOND / 2)
    if (kind === 'long') return this.#world.pass(2 * MINUTE, MINUTE)
    if (kind === 'end silences') return this.endSilences()
    await store
      .write(async (tx) => {
        if (kind === 'acknowledge') await alerts.acknowledge(tx, id, null, 'anna')
        else if (kind === 'recover') await alerts.recover(tx, id, 'anna')
        else if (kind === 'unfreeze') await alerts.unfreeze(tx, id, 'anna')
        else {
          const matchers = { alarmId: this.#prefix + name }
          await silences.create(tx, { matchers, reason: 'r', endsAt: clock.now() + HOUR }, 'anna')
        }
      })
      // Not in a state for it.
      .catch(() => undefined)
  }

  async endSilences(): Promise<void> {
    const { clock, idle, silences, store } = this.#world
    const { items } = await silences.list('active', { limit: 100 })
    for (const { id } of items) await store.write((tx) => silences.end(tx, id, 'anna'))
    await idle()
    clock.advance(SETTLE_MS)
    await silences.settleEnded(new AbortController().signal)
    // No message is on its way while the next step changes what it was judged by.
    await idle()
  }

  /** The decisions on each alert, oldest first. */
  async decisions(): Promise<Row[][]> {
    const rows = await this.#world.rows<Row>(
      `${ROWS} where a.alarm_id like '${this.#prefix}%' order by n.seq`,
    )
    return [...Map.groupBy(rows, ({ id }) => id).values()]
  }

  async #report(name: string, level: 'ERROR' | 'CRITICAL' | 'CLOSE'): Promise<void> {
    const { alert } = await this.#world.report({ title: name, alarmId: this.#prefix + name, level })
    this.#ids.set(name, alert.id)
  }
}

/** A sender that checks each message at each attempt; returns what it has sent although it was held back. */
function startCheckedSender(world: NotificationWorld): string[] {
  const { webhook } = world
  const wrong: string[] = []
  const sender = world.sender({
    channel: {
      rate: webhook.rate,
      fits: (message) => webhook.fits(message),
      async send(message, signal) {
        wrong.push(...(await heldBackIn(world, message.key)))
        return webhook.send(message, signal)
      },
    },
  })
  world.scope.defer(() => sender.stop())
  return wrong
}

async function heldBackIn(world: NotificationWorld, messageId: string): Promise<string[]> {
  const contained = await world.rows<Row>(`${ROWS} where n.message_id = '${messageId}'`)
  const { items } = await world.silences.list('active', { limit: 100 })
  const silenced = new Set(items.map(({ matchers }) => matchers.alarmId))
  const inhibitors = await world.rows<{ name: string }>(
    `select alarm_id as name from alerts where alarm_id like '%.critical' and weight > 0`,
  )
  const inhibited = new Set(inhibitors.map(({ name }) => name.replace(/\.critical$/, '')))
  const isHeldBack = (row: Row) =>
    (row.status === 'frozen' && !isOfFreeze(row)) ||
    (!isEnd(row) && (row.status === 'acknowledged' || silenced.has(row.name) || inhibited.has(row.name)))
  return contained.filter(isHeldBack).map((row) => JSON.stringify(row))
}

/** An end is pushed if and only if something before it was; only a freeze keeps a recovery back. */
function assertEnds(decisions: readonly Row[]): void {
  let isTold = false
  for (const row of decisions) {
    if (isEnd(row) && row.outcome !== 'frozen') assert.equal(isPushed(row), isTold, JSON.stringify(decisions))
    if (isPushed(row)) isTold = !isEnd(row)
  }
}

/** What fires, and nothing holds back, was told. */
function assertTold(decisions: readonly Row[], firing: ReadonlySet<string>): void {
  const [alert] = decisions
  if (alert?.status !== 'firing' || firing.has(`${alert.name}.critical`)) return
  const end = decisions.findLastIndex((row) => isEnd(row) && isPushed(row))
  assert.ok(decisions.slice(end + 1).some(isPushed), JSON.stringify(decisions))
}

onEveryDialect('any sequence of reports, actions, silences and outages of the robot', (dialect) => {
  it('loses no notification, and sends none that is held back', async () => {
    await using world = await notificationWorld(dialect)
    const wrong = startCheckedSender(world)
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), async (steps) => {
        const sequence = new Sequence(world, run++)
        const shownBefore = world.robots.shown.length
        for (const { kind, name } of steps) await sequence.take(kind, name)
        world.robots.behave(undefined)
        await world.drain(10 * SECOND)
        await sequence.endSilences()
        await world.drain(10 * SECOND)
        assert.deepEqual(wrong.splice(0), [])
        const decisions = await sequence.decisions()
        const firing = new Set(decisions.flatMap(([row]) => (row && Number(row.now) > 0 ? [row.name] : [])))
        for (const each of decisions) {
          assertEnds(each)
          assertTold(each, firing)
        }
        const pushed = decisions.flat().filter(isPushed).length
        assert.equal(named(world.robots.shown.slice(shownBefore)), pushed)
        assert.deepEqual(await world.rows('select id from alert_messages'), [])
      }),
      { numRuns: dialect === 'sqlite' ? 40 : 10 },
    )
  })
})
