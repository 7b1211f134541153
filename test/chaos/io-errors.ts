import assert from 'node:assert/strict'
import { copyFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { servePlatform, temporaryDirectory } from '../support/platform.ts'
import type { Chance } from '../support/random.ts'
import { openEngine, requireIntegrity } from './support/engine.ts'
import { requireOrders } from './support/order-invariants.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'
import { askHealth } from './support/watch.ts'
import { acknowledgedIn, DONE, REFUSED, unexpectedIn, writeOrders, type Written } from './support/writers.ts'

const CLIENTS = 4
// So many successes in a row mean that the errors are over.
const SUCCESSES = 15
const MOST_CALLS = 2_000
const REFUSALS = 10

export const ioErrors: Scenario = {
  name: 'io-errors',
  row: 'R-3',
  promise:
    'while calls of the disk fail or the file is replaced, changes are answered with 503, and nothing that was ' +
    'acknowledged is lost',
  unit: 'runs of failing calls, or replacements of the file',
  rounds: { short: 2, full: 40 },
  parts: [
    { title: 'fsync fails with EIO', share: 0.5, run: (trial) => failingDisk(trial, 'fsync', 'EIO') },
    {
      title: 'pwrite64 fails with ENOSPC',
      share: 0.5,
      run: (trial) => failingDisk(trial, 'pwrite64', 'ENOSPC'),
    },
    { title: 'the database file is replaced while it is served', share: 0.5, run: replacedFile },
  ],
}

async function failingDisk(trial: Trial, call: string, error: string): Promise<Figures> {
  const { rounds, scope, signal, chance, show } = trial
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine('sqlite', dataDir, scope)
  // The schema is created without errors; the scenario power-loss covers its creation.
  await (await servePlatform({ dataDir, modules: 'api' })).stop()
  const all: Written[] = []
  for (let round = 1; round <= rounds; round++) {
    signal.throwIfAborted()
    show(`run ${round} of ${rounds}`)
    const wrapper = strace(dataDir, call, error, chance)
    await using platform = await servePlatform({ dataDir, modules: 'api', wrapper })
    const clients = Array.from({ length: CLIENTS }, (_, client) =>
      writeOrders(platform, `r${round}-${client}`, isStableAgain),
    )
    const written = (await Promise.all(clients)).flat()
    all.push(...written)
    assert.deepEqual(unexpectedIn(written, [DONE, REFUSED]), [], `round ${round}`)
    assert.ok(
      written.some(({ status }) => status === 503),
      `round ${round}: no call has met an error`,
    )
    await eventually('health is good again', async () => (await askHealth(platform.url)).status === 200)
    requireIntegrity(dataDir, `round ${round}`)
    assert.equal(await platform.stop(), 0)
  }
  await requireOrders(engine, acknowledgedIn(all))
  const refused = all.filter(({ status }) => status === 503).length
  return { runs: rounds, acknowledged: all.length - refused, refused, lost: 0, corrupt: 0 }
}

/** Makes some system calls on the files of the database fail, after some that succeed. */
function strace(dataDir: string, call: string, error: string, chance: Chance): string[] {
  const first = chance.between(10, 40)
  const when = `${first}..${first + chance.between(4, 12)}`
  const files = ['platform.db', 'platform.db-wal'].flatMap((name) => ['-P', join(dataDir, name)])
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}:when=${when}`]
  return ['strace', '-f', '-D', '-qqq', '-o', '/dev/null', ...files, ...inject]
}

function isStableAgain(written: readonly Written[]): boolean {
  if (written.length >= MOST_CALLS) return true
  const hasFailed = written.some(({ status }) => status === 503)
  const isStable =
    written.length >= SUCCESSES && written.slice(-SUCCESSES).every(({ status }) => status === 201)
  return isStable && (hasFailed || written.length > 20 * SUCCESSES)
}

/** Another program moves the file away or restores an older copy in its place, and later puts the file back. */
async function replacedFile({ rounds, scope, signal, chance, show }: Trial): Promise<Figures> {
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine('sqlite', dataDir, scope)
  await (await servePlatform({ dataDir, modules: 'api' })).stop()
  const path = join(dataDir, 'platform.db')
  copyFileSync(path, `${path}.backup`)
  const platform = scope.use(await servePlatform({ dataDir, modules: 'api' }))
  const all: Written[] = []
  for (let round = 1; round <= rounds; round++) {
    signal.throwIfAborted()
    show(`replacement ${round} of ${rounds}`)
    const count = chance.between(5, 30)
    all.push(...(await writeOrders(platform, `f${round}-before`, ({ length }) => length === count)))
    const during = Promise.all(
      Array.from({ length: CLIENTS }, (_, client) => writeOrders(platform, `f${round}-${client}`, isRefused)),
    )
    renameSync(path, `${path}.moved`)
    if (chance.number() < 0.5) copyFileSync(`${path}.backup`, path)
    const after = await writeOrders(platform, `f${round}-after`, ({ length }) => length === REFUSALS)
    assert.deepEqual(unexpectedIn(after, [REFUSED]), [], `round ${round}: the file is not at its path`)
    assert.equal((await askHealth(platform.url)).status, 503)
    all.push(...(await during).flat(), ...after)
    renameSync(`${path}.moved`, path)
    await eventually('health is good again', async () => (await askHealth(platform.url)).status === 200)
  }
  assert.deepEqual(unexpectedIn(all, [DONE, REFUSED]), [])
  assert.equal(await platform.stop(), 0)
  requireIntegrity(dataDir, 'after the last replacement')
  await requireOrders(engine, acknowledgedIn(all))
  const refused = all.filter(({ status }) => status === 503).length
  return { replacements: rounds, acknowledged: all.length - refused, refused, lost: 0 }
}

function isRefused(written: readonly Written[]): boolean {
  return written.at(-1)?.status === 503 || written.length >= MOST_CALLS
}
