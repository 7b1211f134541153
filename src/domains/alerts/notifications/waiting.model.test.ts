import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as immediate } from 'node:timers/promises'
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
      kind: fc.constantFrom('WARNING', 'ERROR', 'CRITICAL', 'CRITICAL', 'CLOSE', 'CLOSE', 'move'),
      name: fc.constantFrom(...NAMES),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('acknowledge', 'recover', 'unfreeze', 'silence', 'silence', 'silence source'),
      name: fc.constantFrom(...NAMES),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('short', 'long', 'long', 'break', 'cut', 'mend', 'end silences'),
      name: fc.constant('a'),
    }),
  },
)

interface Row {
  readonly id: string
  readonly name: string
  readonly status: AlertStatus
  readonly now: number
  readonly source: string
  readonly occasion: OccasionKind
  readonly outcome: Outcome
  readonly weight: number
}

const ROWS = `select n.alert_id as id, a.alarm_id as name, a.status, a.weight as now, a.source, n.occasion, n.outcome, n.weight
  from alert_notifications n join alerts a on a.id = n.alert_id`

const isPushed = ({ outcome }: Row) => ['pending', 'sent', 'bundled'].includes(outcome)
const isEnd = ({ occasion, weight }: Pick<Row, 'occasion' | 'weight'>) =>
  occasion === 'recovered' || (occasion === 'unfrozen' && Number(weight) === 0)
const isOfFreeze = ({ occasion }: Row) => occasion === 'frozen' || occasion === 'unfrozen'

/** How many notifications the messages name. */
const named = (shown: readonly string[]) =>
  shown.reduce((sum, message) => sum + Number(/ (\d+) notifications of /.exec(message)?.[1] ?? 1), 0)

const LEVELS = ['WARNING', 'ERROR', 'CRITICAL', 'CLOSE'] as const
type Level = (typeof LEVELS)[number]
const isLevel = (kind: string): kind is Level => (LEVELS as readonly string[]).includes(kind)

/** One sequence of steps, with names of its own. */
class Sequence {
  readonly #world: NotificationWorld
  readonly #prefix: string
  readonly #ids = new Map<string, string>()
  readonly #sources = new Map<string, string>()

  constructor(world: NotificationWorld, run: number) {
    this.#world = world
    this.#prefix = `run-${run}.`
  }

  async take(kind: string, name: string): Promise<void> {
    const { alerts, clock, robots, silences, store } = this.#world
    const id = this.#ids.get(name) ?? 'nowhere'
    if (isLevel(kind)) return this.#report(name, kind)
    if (kind === 'move') {
      const source = this.#sources.get(name) === undefined ? `${this.#prefix}other` : undefined
      if (source) this.#sources.set(name, source)
      else this.#sources.delete(name)
      return this.#report(name, 'ERROR')
    }
    if (kind === 'cut') return robots.behave(ROBOT_FAULTS['resets the connection'])
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
          const matchers =
            kind === 'silence' ? { alarmId: this.#prefix + name } : { source: `${this.#prefix}*` }
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
    // No message is on its way while the next step changes what it was judged by, nor is one claimed after another.
    for (let turn = 0; turn < 3; turn++) {
      await idle()
      await immediate()
    }
  }

  /** The decisions on each alert, oldest first. */
  async decisions(): Promise<Row[][]> {
    const rows = await this.#world.rows<Row>(
      `${ROWS} where a.alarm_id like '${this.#prefix}%' order by n.seq`,
    )
    return [...Map.groupBy(rows, ({ id }) => id).values()]
  }

  alerts(): Promise<State[]> {
    return this.#world.rows<State>(
      `select id, alarm_id as name, status, weight, source from alerts where alarm_id like '${this.#prefix}%'`,
    )
  }

  async #report(name: string, level: Level): Promise<void> {
    const source = this.#sources.get(name) ?? 'here'
    const alarmId = this.#prefix + name
    const { alert } = await this.#world.report({ title: alarmId, alarmId, source, level })
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
  // What the robot may have got is sent again as it is.
  const uncertain = `select id from alert_messages where id = '${messageId}' and is_uncertain = 1`
  if ((await world.rows(uncertain)).length > 0) return []
  const contained = await world.rows<Row>(`${ROWS} where n.message_id = '${messageId}'`)
  const { items } = await world.silences.list('active', { limit: 100 })
  const isSilenced = (row: Row) =>
    items.some(({ matchers: { alarmId, source } }) =>
      source === undefined ? alarmId === row.name : row.source.startsWith(source.slice(0, -1)),
    )
  const inhibitors = await world.rows<{ name: string; source: string }>(
    `select alarm_id as name, source from alerts where alarm_id like '%.critical' and weight > 0`,
  )
  const inhibited = new Set(inhibitors.map(({ name, source }) => name.replace(/\.critical$/, '') + source))
  const isHeldBack = (row: Row) =>
    (row.status === 'frozen' && !isOfFreeze(row)) ||
    (!isEnd(row) &&
      (row.status === 'acknowledged' || isSilenced(row) || inhibited.has(row.name + row.source)))
  return contained.filter(isHeldBack).map((row) => JSON.stringify(row))
}

interface State {
  readonly id: string
  readonly name: string
  readonly status: AlertStatus
  readonly weight: number
  readonly source: string
}

/** The marks of what the robot has shown of an alert, oldest first. */
function marksOf(shown: readonly string[], title: string): string[] {
  const lines = shown.flatMap((message) => message.split('\n'))
  return lines.flatMap((line) => {
    const [, mark, rest = ''] = /^\[(\w+)\] (.*)$/.exec(line) ?? []
    return mark !== undefined && rest.replace(/ \(.*/, '') === title ? [mark] : []
  })
}

const WEIGHTS: Readonly<Record<string, number>> = { WARNING: 3, ERROR: 4, CRITICAL: 6 }

/** What the receiver was notified last is what is, except a fall; nothing ends for it that it was not notified of. */
function assertKnown(alert: State, marks: readonly string[], isInhibited: boolean): void {
  const what = JSON.stringify({ alert, marks })
  const last = marks.at(-1)
  assert.notEqual(marks[0], 'RECOVERED', what)
  if (alert.status === 'recovered') assert.ok([undefined, 'RECOVERED', 'UNFROZEN'].includes(last), what)
  if (alert.status !== 'firing' || isInhibited) return
  assert.ok(last === 'UNFROZEN' || (WEIGHTS[last ?? ''] ?? 0) >= Number(alert.weight), what)
}

onEveryDialect('any sequence of reports, actions, silences and outages of the robot', (dialect) => {
  it('leaves the receiver with what is, loses no notification and sends none that is held back', async () => {
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
        const shown = world.robots.shown.slice(shownBefore)
        const alerts = await sequence.alerts()
        for (const alert of alerts) {
          const inhibitor = alerts.find(({ name }) => name === `${alert.name}.critical`)
          const isInhibited = Number(inhibitor?.weight ?? 0) > 0 && inhibitor?.source === alert.source
          assertKnown(alert, marksOf(shown, alert.name), isInhibited)
        }
        const pushed = decisions.flat().filter(isPushed).length
        assert.equal(named(shown), pushed)
        // A message of which nothing is left is removed at its next attempt.
        await world.pass(2 * MINUTE, MINUTE)
        assert.deepEqual(await world.rows('select id from alert_messages'), [])
      }),
      { numRuns: dialect === 'sqlite' ? 40 : 10 },
    )
  })
})
