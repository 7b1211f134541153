import assert from 'node:assert/strict'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { startOrderClients } from '../support/order-clients.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { openEngine, requireIntegrity } from './support/engine.ts'
import { requireOrders } from './support/order-invariants.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'
import { askHealth } from './support/watch.ts'

const CLIENTS = 4
const LAST_LINE = 'uncaught error: the program ends'

export const supervision: Scenario = {
  name: 'supervision',
  row: 'R-24',
  promise:
    'a program with an internal error logs it and exits, so that its supervisor restarts it, and loses nothing',
  unit: 'faults',
  rounds: { short: 1, brief: 4, full: 10 },
  parts: [
    {
      title: 'an uncaught exception in a timer',
      run: (trial) => fatal(trial, 'timer.mjs', requireLastLine),
    },
    { title: 'an unhandled rejection', run: (trial) => fatal(trial, 'rejection.mjs', requireLastLine) },
    { title: 'out of memory', run: (trial) => fatal(trial, 'memory.mjs', requireOutOfMemory) },
    { title: 'a failed reader thread fails only its own read', run: readerFails },
  ],
}

const preloading = (fault: string) => `--import=${join(import.meta.dirname, 'faults', fault)}`

async function fatal(
  trial: Trial,
  fault: string,
  requireLastOutput: (platform: ServedPlatform) => void,
): Promise<Figures> {
  const { rounds, chance, scope, signal, show } = trial
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine('sqlite', dataDir, scope)
  const env = { NODE_OPTIONS: `${preloading(fault)} --max-old-space-size=64` }
  let slowestEndMs = 0
  let acknowledged = 0
  for (let round = 1; round <= rounds; round++) {
    signal.throwIfAborted()
    show(`fault ${round} of ${rounds}`)
    await using platform = await servePlatform({ dataDir, env })
    const clients = startOrderClients({ url: platform.url, clients: CLIENTS, prefix: `r${round}`, chance })
    await eventually('some load', () => clients.acknowledged.size > CLIENTS)
    const start = performance.now()
    platform.signal('SIGUSR2')
    const code = await platform.ended
    slowestEndMs = Math.max(slowestEndMs, performance.now() - start)
    await clients.stop()
    assert.notEqual(code, 0)
    requireLastOutput(platform)
    requireIntegrity(dataDir, `round ${round}`)
    await requireOrders(engine, clients.acknowledged)
    acknowledged += clients.acknowledged.size
  }
  return {
    faults: rounds,
    'orders acknowledged': acknowledged,
    lost: 0,
    'slowest end ms': Math.round(slowestEndMs),
  }
}

function requireLastLine(platform: ServedPlatform): void {
  const last = platform.logs().at(-1)
  assert.deepEqual([last?.level, last?.message], ['error', LAST_LINE])
  assert.match(platform.stderr(), /platform: Error: /)
}

/** V8 ends the process itself, with its own message. */
function requireOutOfMemory(platform: ServedPlatform): void {
  assert.match(platform.stderr(), /FATAL ERROR: .*heap out of memory/)
}

async function readerFails({ rounds, scope, signal, show }: Trial): Promise<Figures> {
  const dataDir = scope.use(temporaryDirectory()).path
  for (let round = 1; round <= rounds; round++) {
    signal.throwIfAborted()
    show(`fault ${round} of ${rounds}`)
    await using platform = await servePlatform({ dataDir, env: { NODE_OPTIONS: preloading('reader.mjs') } })
    // The orders are counted in a thread as soon as the program runs.
    await eventually('the count to fail', () =>
      platform.logs().find(({ message, job }) => message.includes('job failed') && job === 'order-count'),
    )
    const body = { order_id: `r${round}`, platform: 'reader', amount_cents: 1 }
    assert.equal((await platform.call('POST', '/orders', { body })).status, 201)
    assert.equal((await askHealth(platform.url)).status, 200)
    assert.equal(await platform.stop(), 0)
  }
  return { faults: rounds, 'calls refused': 0 }
}
