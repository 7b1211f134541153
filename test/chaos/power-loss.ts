import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { eventually } from '../support/eventually.ts'
import { notifierWorld } from '../support/notifier.ts'
import { runPlatform, servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { Disk, readRecording, recorder, type DiskStep } from '../support/power-loss.ts'
import { ticket } from '../support/ticket-api.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'

const CLIENTS = 8
// Enough to fill the log, so that checkpoints and restarts of the log are among the moments of the cut.
const ORDERS_EACH = 90
const NOTIFIER_ROUNDS = 6
const NOTIFIER_SOURCE = join(import.meta.dirname, '../../programs/ticket-notify/ticket-notify.ts')

export const powerLoss: Scenario = {
  name: 'power-loss',
  row: 'R-2',
  promise: 'a power cut at any moment loses nothing that was acknowledged',
  unit: 'states after a cut',
  rounds: { short: 110, brief: 2_000, full: 5_000 },
  parts: [
    { title: 'orders and their events', share: 0.72, run: ordersAndEvents },
    { title: 'the token secret and the creation of the database', share: 0.14, run: firstStart },
    { title: 'the state of the notifier', share: 0.14, run: stateOfNotifier },
  ],
}

/** Cuts the power at random moments of the recording; `inspect` gets the files that the next start would find. */
async function cutThePower(
  steps: readonly DiskStep[],
  disk: Disk,
  { rounds, chance, show, signal }: Pick<Trial, 'rounds' | 'chance' | 'show' | 'signal'>,
  look: { step(step: DiskStep): void; inspect(directory: string): void },
): Promise<void> {
  const cuts = Array.from({ length: rounds - 1 }, () => chance.between(1, steps.length)).sort((a, b) => a - b)
  // The last cut comes after every step, so that the last answers are checked, too.
  cuts.push(steps.length)
  let done = 0
  for (const [index, cut] of cuts.entries()) {
    // Test servers run in this process, too.
    await nextTurn()
    signal.throwIfAborted()
    if (index % 50 === 0) show(`state ${index} of ${rounds}`)
    for (; done < cut; done++) {
      const step = steps[done] as DiskStep
      disk.apply(step)
      look.step(step)
    }
    using after = temporaryDirectory()
    disk.writeAfterPowerLoss(after.path, chance)
    look.inspect(after.path)
  }
}

async function ordersAndEvents(trial: Trial): Promise<Figures> {
  const { scope, show } = trial
  const directory = scope.use(temporaryDirectory()).path
  await runPlatform(['db', 'migrate'], { dataDir: directory })
  const initial = { 'platform.db': readFileSync(join(directory, 'platform.db')) }
  show('recording')
  const steps = await recordOrders(directory)

  const acknowledged = new Map<string, string>()
  for (const step of steps) noteAcknowledged(step, acknowledged)
  assert.equal(acknowledged.size, CLIENTS * ORDERS_EACH, 'the recording holds every answer')
  const cut = (recorded: readonly DiskStep[], rounds: number) =>
    findingsAfterCuts(recorded, new Disk(directory, initial), { ...trial, rounds })
  assert.deepEqual(await cut(steps, trial.rounds), NOTHING_LOST)

  // Proof that a loss is noticed: the same recording without its syncs.
  const careless = steps.filter(({ kind }) => kind !== 'sync')
  await assert.rejects(async () => assert.deepEqual(await cut(careless, 20), NOTHING_LOST))
  return {
    states: trial.rounds,
    'of steps': steps.length,
    'orders acknowledged': acknowledged.size,
    ...NOTHING_LOST,
  }
}

/** Runs the program with clients that create orders and pay them. */
async function recordOrders(dataDir: string): Promise<DiskStep[]> {
  const recording = join(dataDir, 'recording')
  await using platform = await servePlatform({ dataDir, modules: 'api', wrapper: recorder(recording) })
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => makeOrders(platform, client)))
  // Its thread may be late on a busy machine.
  await eventually('a checkpoint', () => readRecording(recording).some(isCheckpoint))
  // One more answer, so that the recording has the whole write of the last order's answer.
  await (await platform.call('GET', '/health')).text()
  await platform.kill()
  return readRecording(recording)
}

function isCheckpoint(step: DiskStep): boolean {
  return step.kind === 'sync' && step.path.endsWith('platform.db')
}

async function makeOrders(platform: ServedPlatform, client: number, orders = ORDERS_EACH): Promise<void> {
  for (let number = 0; number < orders; number++) {
    const order_id = `c${client}-${number}`
    const body = { order_id, platform: 'live', amount_cents: number }
    const created = await platform.call('POST', '/orders', { body })
    assert.equal(created.status, 201, await created.text())
    if (number % 3 !== 0) continue
    const paid = await platform.call('PUT', `/orders/${order_id}`, { body: { status: 'paid' } })
    assert.equal(paid.status, 200, await paid.text())
  }
}

/** The orders that a client has got in an answer, with the status of the last one. */
function noteAcknowledged(step: DiskStep, acknowledged: Map<string, string>): void {
  if (step.kind !== 'sent') return
  for (const [, id = '', status = ''] of step.text.matchAll(
    /"order_id":"([^"]+)".{0,80}?"status":"(\w+)"/g,
  )) {
    acknowledged.set(id, status)
  }
}

interface Findings {
  /** Acknowledged orders that are missing, or have another status. */
  lost: number
  corrupt: number
  /** Changes without a message in the outbox. */
  'without event': number
}

const NOTHING_LOST: Findings = { lost: 0, corrupt: 0, 'without event': 0 }

async function findingsAfterCuts(
  steps: readonly DiskStep[],
  disk: Disk,
  trial: Pick<Trial, 'rounds' | 'chance' | 'show' | 'signal'>,
): Promise<Findings> {
  const acknowledged = new Map<string, string>()
  const findings: Findings = { ...NOTHING_LOST }
  await cutThePower(steps, disk, trial, {
    step: (step) => noteAcknowledged(step, acknowledged),
    inspect: (directory) => inspectOrders(join(directory, 'platform.db'), acknowledged, findings),
  })
  return findings
}

function inspectOrders(path: string, acknowledged: ReadonlyMap<string, string>, findings: Findings): void {
  using database = new DatabaseSync(path)
  const [check] = database.prepare('pragma integrity_check').all()
  if (check?.['integrity_check'] !== 'ok') findings.corrupt++
  const orders = new Map(
    database
      .prepare('select order_id, status from orders')
      .all()
      .map((row) => [row['order_id'], row['status']]),
  )
  const events = new Set(
    database
      .prepare("select subject || ' ' || (payload ->> 'subject') as event from messages")
      .all()
      .map((row) => row['event']),
  )
  for (const [id, status] of acknowledged) {
    // A status change may be committed before the client has got its answer.
    if (orders.get(id) !== status && !(status === 'pending' && orders.get(id) === 'paid')) findings.lost++
  }
  for (const [id, status] of orders) {
    if (!events.has(`order.created ${String(id)}`)) findings['without event']++
    if (status === 'paid' && !events.has(`order.paid ${String(id)}`)) findings['without event']++
  }
}

/** A start on an empty directory: tokens that were issued before the cut are valid after it. */
async function firstStart(trial: Trial): Promise<Figures> {
  const dataDir = trial.scope.use(temporaryDirectory()).path
  const recording = join(dataDir, 'recording')
  trial.show('recording')
  {
    await using platform = await servePlatform({ dataDir, modules: 'api', wrapper: recorder(recording) })
    // Some load, so that many of the cuts come after the start.
    await makeOrders(platform, 0, 8)
  }
  const steps = readRecording(recording)
  const secret = readFileSync(join(dataDir, 'jwt-secret'), 'utf8')
  let listening = false
  let lasting = 0
  await cutThePower(steps, new Disk(dataDir), trial, {
    step: (step) => (listening ||= step.kind === 'sent' && step.text.includes('"message":"listening"')),
    inspect(directory) {
      const path = join(directory, 'jwt-secret')
      if (listening || existsSync(path)) assert.equal(readFileSync(path, 'utf8'), secret)
      requireWholeSchema(join(directory, 'platform.db'), listening)
      if (listening) lasting++
    },
  })
  assert.ok(lasting > 0, 'no cut came after the start')
  return { states: trial.rounds, 'of steps': steps.length, 'after the start': lasting, lost: 0, corrupt: 0 }
}

/** All tables or none; with none the next start creates them. */
function requireWholeSchema(path: string, isExpected: boolean): void {
  if (!isExpected && !existsSync(path)) return
  using database = new DatabaseSync(path)
  assert.deepEqual({ ...database.prepare('pragma integrity_check').get() }, { integrity_check: 'ok' })
  const tables = database.prepare(`select name from sqlite_schema where type = 'table'`).all()
  if (tables.length === 0 && !isExpected) return
  const { steps } = database.prepare('select count(*) as steps from schema_migrations').get() as {
    steps: number
  }
  assert.ok(steps > 0, `${tables.length} tables without a migration`)
}

async function stateOfNotifier(trial: Trial): Promise<Figures> {
  const world = trial.scope.use(await notifierWorld())
  world.configure(['mail'])
  trial.show('recording')
  const steps: DiskStep[] = []
  const completed = new Map<DiskStep, string[]>()
  for (let round = 1; round <= NOTIFIER_ROUNDS; round++) {
    world.api.tickets = [...world.api.tickets, ticket(`t-${round}-a`), ticket(`t-${round}-b`)]
    const recording = join(world.directory, `recording-${round}`)
    const [strace, ...tracing] = recorder(recording)
    const command = [strace, ...tracing, process.execPath, NOTIFIER_SOURCE] as const
    const { code, stderr } = await world.run([], { command })
    assert.equal(code, 0, stderr)
    for (const step of readRecording(recording)) {
      steps.push(step)
      if (step.kind === 'sent' && step.text.includes('"message":"round done"'))
        completed.set(step, Object.keys(world.state()))
    }
  }
  assert.equal(completed.size, NOTIFIER_ROUNDS, 'the recording has every round')
  let known: string[] = []
  const directory = join(world.directory, 'state')
  await cutThePower(steps, new Disk(directory), trial, {
    step: (step) => (known = completed.get(step) ?? known),
    inspect(after) {
      const path = join(after, 'ticket-notify-state.json')
      if (known.length === 0 && !existsSync(path)) return
      const state = JSON.parse(readFileSync(path, 'utf8')) as object
      const lost = known.filter((id) => !(id in state))
      assert.deepEqual(lost, [], 'tickets of a completed round that are not in the state')
    },
  })
  return {
    states: trial.rounds,
    'of steps': steps.length,
    'rounds recorded': NOTIFIER_ROUNDS,
    lost: 0,
    corrupt: 0,
  }
}
