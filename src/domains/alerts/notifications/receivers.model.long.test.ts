import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { CompiledQuery } from 'kysely'
import {
  ModelReceiver,
  MortalWorker,
  type ReceiverMood,
  type WorkerDeath,
} from '../../../../test/support/mortal-worker.ts'
import { createAlertsDomain, routingOf } from '../../../../test/support/receiver-world.ts'
import { onEveryDialect, testStore } from '../../../../test/support/store.ts'
import { fakeWaitingClock } from '../../../../test/support/waiting-clock.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { noMetrics } from '../../../kernel/metrics.ts'
import { HOUR, MINUTE, SECOND, WEEKDAYS } from '../../../kernel/time.ts'
import type { DialectName } from '../../../store/dialects/capabilities.ts'
import type { Tx } from '../../../store/store.ts'
import type { AlertStatus } from '../model.ts'
import { Silences } from '../silences/service.ts'
import type { NotifiedStatus } from './model.ts'

const RECEIVERS = ['chat', 'mail', 'pager', 'spare'] as const
type ReceiverName = (typeof RECEIVERS)[number]

const ROUTING = routingOf(
  [
    {
      match: { source: 'shop*' },
      minSeverity: 'ERROR',
      receivers: ['chat'],
      repeatEveryMs: 2 * HOUR,
      escalate: [{ afterMs: 15 * MINUTE, receivers: ['pager'] }],
    },
    { match: { source: 'nowhere' }, receivers: ['spare'] },
  ],
  ['mail', 'chat'],
)
/** Whom the routes tell of a source, and from which weight on. */
const DIRECT = {
  shop: { receivers: ['chat'], least: 4 },
  other: { receivers: ['mail', 'chat'], least: 3 },
} as const satisfies Record<string, { receivers: readonly ReceiverName[]; least: number }>
type Source = keyof typeof DIRECT

const NAMES = ['a', 'a.critical', 'b'] as const
const LEVELS = ['WARNING', 'ERROR', 'CRITICAL', 'CLOSE'] as const
const MOODS: readonly ReceiverMood[] = ['works', 'works', 'refuses', 'hangs', 'hangs and takes']

const death = fc.record<WorkerDeath>({
  step: fc.integer({ min: 1, max: 12 }),
  when: fc.constantFrom('before', 'after'),
})
const name = fc.constantFrom(...NAMES)
const STEPS = {
  report: fc.record({ name, level: fc.constantFrom(...LEVELS) }),
  rename: name,
  move: name,
  acknowledge: name,
  recover: name,
  unfreeze: name,
  silence: fc.constantFrom(...NAMES, 'all'),
  repeatSilence: fc.record({
    name: fc.constantFrom(...NAMES, 'all'),
    beginsInMs: fc.constantFrom(-30 * MINUTE, 10 * MINUTE),
  }),
  endSilences: fc.constant(null),
  pass: fc.constantFrom(2 * SECOND, 2 * SECOND, 20 * SECOND, 16 * MINUTE, 70 * MINUTE),
  jump: fc.constantFrom(-8 * HOUR, -HOUR, HOUR, 4 * HOUR),
  mood: fc.record({ receiver: fc.constantFrom(...RECEIVERS), mood: fc.constantFrom(...MOODS) }),
  restart: fc.constant(null),
  kill: death,
  page: fc.constantFrom<Source>('shop', 'other'),
  settle: fc.constant(null),
} as const
const WEIGHTS: Readonly<Record<keyof typeof STEPS, number>> = {
  report: 14,
  rename: 2,
  move: 2,
  acknowledge: 2,
  recover: 1,
  unfreeze: 1,
  silence: 3,
  repeatSilence: 2,
  endSilences: 2,
  pass: 8,
  jump: 1,
  mood: 5,
  restart: 1,
  kill: 4,
  page: 1,
  settle: 1,
}

type Step = {
  [Kind in keyof typeof STEPS]: readonly [
    Kind,
    (typeof STEPS)[Kind] extends fc.Arbitrary<infer Value> ? Value : never,
  ]
}[keyof typeof STEPS]

const step = fc.oneof(
  ...Object.entries(STEPS).map(([kind, arbitrary]) => ({
    weight: WEIGHTS[kind as keyof typeof STEPS],
    arbitrary: (arbitrary as fc.Arbitrary<unknown>).map((value) => [kind, value] as Step),
  })),
)

interface AlertRow {
  readonly id: string
  readonly name: string
  readonly source: string
  readonly status: AlertStatus
  readonly weight: number
}
interface ToldRow {
  readonly id: string
  readonly receiver: ReceiverName
  readonly status: NotifiedStatus
  readonly weight: number
}

const MARKS: Readonly<Record<string, number>> = { WARNING: 3, ERROR: 4, CRITICAL: 6 }
// A receiver that has worked for so long is tried at once.
const PROBED_MS = 61 * SECOND
const CLAIM_MS = 5 * MINUTE

/** The alerts, and the receivers of a worker that is killed and started again; the api goes on. */
async function openWorld(dialect: DialectName) {
  const scope = new AsyncDisposableStack()
  const clock = fakeWaitingClock()
  const { store } = scope.use(await testStore(dialect, clock))
  const receivers = new Map(RECEIVERS.map((each) => [each, new ModelReceiver()]))
  const silent = { rate: { burst: 1, everyMs: 1 }, fits: () => true, send: () => Promise.reject(new Error()) }
  const { service: alerts } = createAlertsDomain({
    store,
    clock,
    channels: new Map(RECEIVERS.map((each) => [each, silent])),
    routing: ROUTING,
  })
  const silences = new Silences({
    store,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    events: { append: async () => undefined },
    alerts,
  })
  const start = (given?: WorkerDeath) =>
    new MortalWorker({ store, clock, routing: ROUTING, receivers, death: given })
  let worker = start()
  scope.defer(() => worker.stop())
  return {
    clock,
    store,
    alerts,
    silences,
    receivers,
    dialect,
    rows: async <R>(text: string) => (await store.read.db.executeQuery<R>(CompiledQuery.raw(text))).rows,
    async restart(given?: WorkerDeath) {
      await worker.stop()
      worker = start(given)
      await worker.idle()
    },
    /** Lets time pass, and starts the worker again if it was killed meanwhile. */
    async pass(milliseconds: number) {
      await worker.idle()
      clock.advance(milliseconds)
      await worker.idle()
      await worker.runJobs()
      if (!worker.isDead) return
      worker = start()
      await worker.idle()
    },
    [Symbol.asyncDispose]: () => scope.disposeAsync(),
  }
}

type World = Awaited<ReturnType<typeof openWorld>>

/** One sequence of steps, with alerts of its own. */
class Run {
  readonly #world: World
  readonly #prefix: string
  readonly #ids = new Map<string, string>()
  readonly #sources = new Map<string, Source>()
  readonly #titles = new Map<string, number>()
  readonly #workingSince = new Map<ReceiverName, number>()
  #pages = 0

  constructor(world: World, number: number) {
    this.#world = world
    this.#prefix = `run-${number}.`
  }

  async take([kind, value]: Step): Promise<void> {
    const { clock } = this.#world
    if (kind === 'report') return this.#report(value.name, value.level)
    if (kind === 'rename') {
      this.#titles.set(value, (this.#titles.get(value) ?? 0) + 1)
      return this.#report(value, 'ERROR')
    }
    if (kind === 'move') {
      this.#sources.set(value, this.#sourceOf(value) === 'shop' ? 'other' : 'shop')
      return this.#report(value, 'ERROR')
    }
    if (kind === 'pass') return this.#world.pass(value)
    if (kind === 'jump') return clock.jump(value)
    if (kind === 'mood') return this.#setMood(value.receiver, value.mood)
    if (kind === 'restart') return this.#world.restart()
    if (kind === 'kill') return this.#world.restart(value)
    if (kind === 'page') return this.#page(value)
    if (kind === 'settle') return this.settle()
    if (kind === 'endSilences') return this.#endSilences()
    if (kind === 'silence') return this.#silence(value)
    if (kind === 'repeatSilence') return this.#repeatSilence(value)
    await this.#act(kind, value)
  }

  /** Lets every receiver answer until nothing waits, and compares. */
  async settle(): Promise<void> {
    for (const receiver of RECEIVERS) this.#setMood(receiver, 'works')
    // The end of a silence that a killed worker has claimed is taken by another one after that time.
    const pending = () => `
      select 1 from alert_notifications where outcome = 'pending'
      union all select 1 from alert_silences where due_at <= ${this.#world.clock.now() + CLAIM_MS}`
    for (let quiet = 0, passed = 0; quiet < 3; passed++) {
      assert.ok(passed < 200, 'what waits is told')
      await this.#world.pass(5 * SECOND)
      quiet = (await this.#world.rows(pending())).length === 0 ? quiet + 1 : 0
    }
    await this.#compare()
  }

  /** Ends what would hold back later runs. */
  async end(): Promise<void> {
    await this.#endSilences()
    await this.settle()
  }

  async #compare(): Promise<void> {
    const { rows } = this.#world
    const alerts = await rows<AlertRow>(
      `select id, alarm_id as name, source, status, weight from alerts where alarm_id like '${this.#prefix}%'`,
    )
    const notified = await rows<ToldRow>(`select alert_id as id, receiver, status, weight from alert_told`)
    const quiet = await rows<{ id: string }>(
      'select alert_id as id from alert_dampings where quiet_since is not null',
    )
    for (const alert of alerts) {
      const isQuiet = quiet.some(({ id }) => id === alert.id)
      const isSuppressed =
        isQuiet || alert.status !== 'firing' || (await this.#isSilenced(alert)) || isInhibited(alert, alerts)
      for (const receiver of RECEIVERS) {
        const last = notified.find((each) => each.id === alert.id && each.receiver === receiver)
        const marks = this.#marksOf(receiver, alert.name)
        const what = JSON.stringify({ receiver, alert, last, marks, isQuiet, isSuppressed })
        assertRemembered(marks, last, what)
        if (!isSuppressed) assertKnown(alert, receiver, last, what)
        if (alert.status === 'recovered' && !isQuiet)
          assert.ok(last === undefined || last.status === 'recovered', `the end is told: ${what}`)
      }
      assert.deepEqual(this.#marksOf('spare', alert.name), [])
    }
  }

  /** The marks of what a receiver has got of an alert, oldest first. */
  #marksOf(receiver: ReceiverName, alarmId: string): string[] {
    const got = this.#world.receivers.get(receiver)?.got ?? []
    const lines = got.flatMap(({ title, text }) => [title, ...text.split('\n')])
    return lines.flatMap((line) => {
      const [, mark, title] = /^\[([A-Z ]+)\] (\S+)/.exec(line) ?? []
      return mark !== undefined && title === alarmId ? [mark] : []
    })
  }

  #setMood(receiver: ReceiverName, mood: ReceiverMood): void {
    const { clock, receivers } = this.#world
    const model = receivers.get(receiver)
    if (!model || model.mood === mood) return
    model.mood = mood
    if (mood === 'works') this.#workingSince.set(receiver, clock.monotonic())
    else this.#workingSince.set(receiver, Number.POSITIVE_INFINITY)
  }

  #sourceOf(alarm: string): Source {
    return this.#sources.get(alarm) ?? 'shop'
  }

  async #report(
    alarm: string,
    level: (typeof LEVELS)[number],
    source = this.#sourceOf(alarm),
  ): Promise<void> {
    const { alerts, store } = this.#world
    const alarmId = this.#prefix + alarm
    const title = `${alarmId} ${this.#titles.get(alarm) ?? 0}`
    const report = { alarmId, source, title, body: '', serverAddr: null, level }
    const { alert } = await store.write((tx) => alerts.report(tx, report, 'anna'))
    this.#ids.set(alarm, alert.id)
  }

  /** A new CRITICAL alert reaches whoever answers within a minute, whatever the others do. */
  async #page(source: Source): Promise<void> {
    const { clock, receivers } = this.#world
    const alarm = `page-${this.#pages++}`
    const isSilenced = await this.#isSilenced({ name: this.#prefix + alarm, source })
    const now = clock.monotonic()
    const answering = DIRECT[source].receivers.filter((receiver) => {
      const since = this.#workingSince.get(receiver) ?? Number.NEGATIVE_INFINITY
      return receivers.get(receiver)?.mood === 'works' && now - since >= PROBED_MS
    })
    await this.#report(alarm, 'CRITICAL', source)
    while (clock.monotonic() < now + MINUTE) await this.#world.pass(2 * SECOND)
    if (isSilenced) return
    for (const receiver of answering)
      assert.deepEqual(this.#marksOf(receiver, this.#prefix + alarm), ['CRITICAL'], receiver)
  }

  async #act(kind: 'acknowledge' | 'recover' | 'unfreeze', alarm: string): Promise<void> {
    const { alerts, store } = this.#world
    const id = this.#ids.get(alarm) ?? 'nowhere'
    const act = {
      acknowledge: (tx: Tx) => alerts.acknowledge(tx, id, null, 'anna'),
      recover: (tx: Tx) => alerts.recover(tx, id, 'anna'),
      unfreeze: (tx: Tx) => alerts.unfreeze(tx, id, 'anna'),
    }[kind]
    // Not in a state for it.
    await store.write<unknown>(act).catch(() => undefined)
  }

  async #silence(alarm: string): Promise<void> {
    const { clock, silences, store } = this.#world
    const matchers = { alarmId: `${this.#prefix}${alarm === 'all' ? '*' : alarm}` }
    const endsAt = clock.now() + HOUR
    await store.write((tx) => silences.create(tx, { matchers, reason: 'r', endsAt }, 'anna'))
  }

  /** One hour of each day. */
  async #repeatSilence({ name: alarm, beginsInMs }: { name: string; beginsInMs: number }): Promise<void> {
    const { clock, silences, store } = this.#world
    const matchers = { alarmId: `${this.#prefix}${alarm === 'all' ? '*' : alarm}` }
    const timeAt = (at: number) => new Date(at).toISOString().slice(11, 16)
    const begin = clock.now() + beginsInMs
    const repeat = { days: WEEKDAYS, from: timeAt(begin), to: timeAt(begin + HOUR), timeZone: 'UTC' }
    await store.write((tx) => silences.create(tx, { matchers, reason: 'r', repeat }, 'anna'))
  }

  async #endSilences(): Promise<void> {
    const { silences, store } = this.#world
    for (const state of ['active', 'pending'] as const)
      for (const { id } of (await silences.list(state, { limit: 100 })).items)
        await store.write((tx) => silences.end(tx, id, 'anna'))
  }

  async #isSilenced(alert: Pick<AlertRow, 'name' | 'source'>): Promise<boolean> {
    const { items } = await this.#world.silences.list('active', { limit: 100 })
    return items.some(({ matchers: { alarmId = '' } }) =>
      alarmId.endsWith('*') ? alert.name.startsWith(alarmId.slice(0, -1)) : alert.name === alarmId,
    )
  }
}

function isInhibited(alert: AlertRow, alerts: readonly AlertRow[]): boolean {
  return alerts.some(
    ({ name: other, source, weight }) =>
      other === `${alert.name}.critical` && source === alert.source && Number(weight) > 0,
  )
}

/** The platform remembers what the receiver has got last. */
function assertRemembered(marks: readonly string[], last: ToldRow | undefined, what: string): void {
  const mark = marks.at(-1)
  assert.equal(last === undefined, mark === undefined, `what was told is remembered: ${what}`)
  if (!last || mark === undefined) return
  assert.notEqual(marks[0], 'RECOVERED', `nobody is told of the end of what they do not know: ${what}`)
  assert.ok(!/RECOVERED,RECOVERED/.test(marks.join(',')), `an end is told once: ${what}`)
  const weight = MARKS[mark.split(' ').at(-1) ?? '']
  if (weight !== undefined) {
    // An acknowledgement says that people know the alert as it is, which may be less.
    assert.ok(last.status === 'firing' && Number(last.weight) <= weight, `the last message: ${what}`)
  }
  if (mark === 'RECOVERED') assert.equal(last.status, 'recovered', what)
  if (mark === 'FROZEN') assert.equal(last.status, 'frozen', what)
  if (mark === 'CHANGES OFTEN') assert.equal(last.status, 'damped', what)
}

/** Whoever is to be notified of an alert that fires knows that it does, and at least its weight. */
function assertKnown(alert: AlertRow, receiver: ReceiverName, last: ToldRow | undefined, what: string): void {
  const { receivers, least } = DIRECT[alert.source as Source]
  const isDirect = (receivers as readonly string[]).includes(receiver) && Number(alert.weight) >= least
  // An escalation notifies a receiver later, which then hears of each rise.
  if (!isDirect && last?.status !== 'firing') return
  if (Number(alert.weight) < least) return
  assert.ok(
    last?.status === 'firing' && Number(last.weight) >= Number(alert.weight),
    `the present state is told: ${what}`,
  )
}

onEveryDialect(
  'receivers under any sequence of changes, clock steps, faults, restarts and kills',
  (dialect) => {
    it('know at each quiet moment what the rules say', async () => {
      await using world = await openWorld(dialect)
      let number = 0
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
          const run = new Run(world, number++)
          for (const each of steps) await run.take(each)
          await run.settle()
          await run.end()
        }),
        { numRuns: dialect === 'sqlite' ? 100 : 25 },
      )
    })
  },
)
