import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import {
  callPlatform,
  PROGRAM,
  runPlatform,
  temporaryDirectory,
  testEnvironment,
} from '../support/platform.ts'
import { Disk, readRecording, TRACED_CALLS, type DiskStep } from '../support/power-loss.ts'
import { chanceOf, type Chance } from '../support/random.ts'

// STATES=20000 for a long run (reliability R-2).
const STATES = Number(process.env['STATES'] ?? 200)
const CLIENTS = 8
// Enough to fill the log, so that checkpoints and the log's beginning anew are among the moments of the cut.
const ORDERS_EACH = 90

/** Runs the program under strace with clients that make orders and pay them; answers the recording. */
async function record(directory: string): Promise<string> {
  const recording = join(directory, 'recording')
  const tracing = [
    '-f',
    '-qq',
    '-xx',
    '-y',
    '-s',
    '1000000',
    '-o',
    recording,
    '-e',
    `trace=${TRACED_CALLS.join(',')}`,
  ]
  const child = spawn('strace', [...tracing, process.execPath, PROGRAM, 'serve', '--module', 'api'], {
    cwd: directory,
    env: testEnvironment(directory, { LISTEN_ADDR: '127.0.0.1:0', LOG_LEVEL: 'info', LOG_FORMAT: 'json' }),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const url = await eventually('the traced program listens', () => /"address":"([^"]+)"/.exec(output)?.[1], {
    timeoutMs: 60_000,
  })
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => makeOrders(`http://${url}`, client)))
  // One more answer, so that the write of the last one before it has come to its end in the recording.
  await (await callPlatform(`http://${url}`, 'GET', '/health')).text()
  await kill(child)
  return recording
}

/** What strace traces: it passes no signal on, and a program that it has left behind would live for ever. */
async function kill(strace: ChildProcess): Promise<void> {
  const children = readFileSync(`/proc/${strace.pid}/task/${strace.pid}/children`, 'utf8').trim().split(' ')
  const ended = once(strace, 'close')
  for (const child of children) process.kill(Number(child), 'SIGKILL')
  await ended
}

async function makeOrders(url: string, client: number): Promise<void> {
  for (let number = 0; number < ORDERS_EACH; number++) {
    const order_id = `c${client}-${number}`
    const created = await callPlatform(url, 'POST', '/orders', {
      body: { order_id, platform: 'live', amount_cents: number },
    })
    assert.equal(created.status, 201)
    await created.text()
    if (number % 3 !== 0) continue
    const paid = await callPlatform(url, 'PUT', `/orders/${order_id}`, { body: { status: 'paid' } })
    assert.equal(paid.status, 200)
    await paid.text()
  }
}

/** Orders that a client had in its hands, with the status that it was told last. */
function acknowledged(step: DiskStep, told: Map<string, string>): void {
  if (step.kind !== 'sent') return
  for (const [, id = '', status = ''] of step.text.matchAll(
    /"order_id":"([^"]+)".{0,80}?"status":"(\w+)"/g,
  )) {
    told.set(id, status)
  }
}

interface Findings {
  /** Orders that a client had in its hands and that are not there, or not as it was told. */
  lost: number
  corrupt: number
  /** Changes that the bus would never hear of. */
  withoutEvent: number
}

const NOTHING_LOST: Findings = { lost: 0, corrupt: 0, withoutEvent: 0 }

function inspect(path: string, told: ReadonlyMap<string, string>, findings: Findings): void {
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
  for (const [id, status] of told) {
    // A move that was committed and not yet told may be ahead of what the client knows.
    if (orders.get(id) !== status && !(status === 'pending' && orders.get(id) === 'paid')) findings.lost++
  }
  for (const [id, status] of orders) {
    if (!events.has(`order.created ${String(id)}`)) findings.withoutEvent++
    if (status === 'paid' && !events.has(`order.paid ${String(id)}`)) findings.withoutEvent++
  }
}

/** Cuts the power at random moments of the recording, and looks at what the next start would find. */
function cutThePower(
  steps: readonly DiskStep[],
  options: { initial: Readonly<Record<string, Buffer>>; directory: string; states: number; chance: Chance },
): Findings {
  const { directory, initial, states, chance } = options
  const cuts = Array.from({ length: states }, () => chance.between(1, steps.length)).sort((a, b) => a - b)
  const disk = new Disk(directory, initial)
  const told = new Map<string, string>()
  const findings: Findings = { lost: 0, corrupt: 0, withoutEvent: 0 }
  let done = 0
  for (const cut of cuts) {
    for (; done < cut; done++) {
      const step = steps[done] as DiskStep
      disk.apply(step)
      acknowledged(step, told)
    }
    using after = temporaryDirectory()
    disk.writeAfterPowerLoss(after.path, chance)
    inspect(join(after.path, 'platform.db'), told, findings)
  }
  return findings
}

test('a power cut at any moment loses no order that was acknowledged, and no event', async (t) => {
  const chance = chanceOf(t)
  using world = temporaryDirectory()
  const directory = world.path
  await runPlatform(['db', 'migrate'], { dataDir: directory })
  const initial = { 'platform.db': readFileSync(join(directory, 'platform.db')) }
  const steps = readRecording(await record(directory))

  const told = new Map<string, string>()
  for (const step of steps) acknowledged(step, told)
  assert.equal(told.size, CLIENTS * ORDERS_EACH, 'the recording holds every answer')
  assert.ok(
    steps.some((step) => step.kind === 'sync' && step.path.endsWith('platform.db')),
    'the recording holds a checkpoint',
  )
  t.diagnostic(`${STATES} states of ${steps.length} steps, ${told.size} acknowledged orders`)
  assert.deepEqual(cutThePower(steps, { initial, directory, states: STATES, chance }), NOTHING_LOST)

  // The proof that a loss would be seen: the same program, had it never waited for the disk.
  const careless = steps.filter(({ kind }) => kind !== 'sync')
  const seen = await Promise.resolve()
    .then(() => cutThePower(careless, { initial, directory, states: 20, chance }))
    .catch((error: unknown) => error)
  assert.notDeepEqual(seen, NOTHING_LOST)
})
