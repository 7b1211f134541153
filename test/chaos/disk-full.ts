import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { openEngine, requireIntegrity } from './support/engine.ts'
import { requireOrders } from './support/order-invariants.ts'
import type { Figures, Scenario, Trial } from './support/scenario.ts'
import { askHealth } from './support/watch.ts'
import {
  acknowledgedIn,
  DONE,
  REFUSED,
  unexpectedIn,
  writeOrder,
  writeOrders,
  type Written,
} from './support/writers.ts'

const REFUSALS = 20
// The log of the database has free space in itself for some time.
const MOST_CALLS = 20_000
const READS = 50

export const diskFull: Scenario = {
  name: 'disk-full',
  row: 'R-4',
  promise: 'on a full disk everything can be read, changes are refused, and space is all it takes to go on',
  unit: 'fillings of the disk',
  rounds: { short: 1, full: 20 },
  parts: [{ title: 'a tmpfs of 64 MiB', run: fullDisk }],
  unsupported() {
    if (process.getuid?.() !== 0) return 'it mounts a tmpfs, which only root may do'
    using directory = temporaryDirectory()
    const { status, stderr } = mount(directory.path)
    if (status !== 0) return `no tmpfs can be mounted here: ${stderr.trim()}`
    unmount(directory.path)
    return undefined
  },
}

async function fullDisk({ rounds, scope, signal, show }: Trial): Promise<Figures> {
  const dataDir = scope.use(temporaryDirectory()).path
  assert.equal(mount(dataDir).status, 0)
  scope.defer(() => unmount(dataDir))
  const engine = await openEngine('sqlite', dataDir, scope)
  const platform = scope.use(await servePlatform({ dataDir }))
  const all: Written[] = []
  const recoveries: number[] = []
  let reads = 0
  for (let round = 1; round <= rounds; round++) {
    signal.throwIfAborted()
    show(`filling ${round} of ${rounds}`)
    const before = await writeOrders(platform, `r${round}-before`, (written) => written.length === READS)
    assert.deepEqual(unexpectedIn(before, [DONE]), [], `round ${round}, before the disk is full`)
    const ballast = fill(dataDir)
    const during = await writeOrders(platform, `r${round}-full`, hasEnoughRefusals)
    all.push(...before, ...during)
    assert.deepEqual(unexpectedIn(during, [DONE, REFUSED]), [])
    assert.ok(
      during.some(({ status }) => status === 503),
      'the disk was not full',
    )
    // A checkpoint may have freed space in the log.
    await eventually('health is bad', async () => {
      all.push(await writeOrder(platform, `r${round}-more-${all.length}`))
      return (await askHealth(platform.url)).status === 503
    })
    reads += await readAll(platform, before)

    rmSync(ballast)
    const freedAt = performance.now()
    await eventually('health is good again', async () => (await askHealth(platform.url)).status === 200)
    const after = await eventually('an order is accepted', async () => {
      const written = await writeOrder(platform, `r${round}-after-${all.length}`)
      all.push(written)
      return written.status === 201
    })
    assert.ok(after)
    recoveries.push(performance.now() - freedAt)
    requireIntegrity(dataDir, `round ${round}`)
  }
  assert.equal(await platform.stop(), 0)
  await requireOrders(engine, acknowledgedIn(all))
  return {
    fillings: rounds,
    refused: all.filter(({ status }) => status === 503).length,
    'reads answered': `${reads} of ${rounds * READS}`,
    lost: 0,
    'recovered within ms': Math.round(Math.max(...recoveries)),
  }
}

function hasEnoughRefusals(written: readonly Written[]): boolean {
  const refusals = written.filter(({ status }) => status === 503).length
  return refusals >= REFUSALS || written.length >= MOST_CALLS
}

async function readAll(platform: ServedPlatform, written: readonly Written[]): Promise<number> {
  for (const { orderId } of written) {
    const answer = await platform.call('GET', `/orders/${orderId}`)
    assert.equal(answer.status, 200, await answer.text())
  }
  return written.length
}

/** Fills the free space with a file. */
function fill(directory: string): string {
  const path = join(directory, 'ballast')
  const file = openSync(path, 'w')
  try {
    for (let size = 65_536; size >= 1; size = Math.floor(size / 2)) writeUntilFull(file, Buffer.alloc(size))
  } finally {
    closeSync(file)
  }
  return path
}

function writeUntilFull(file: number, piece: Buffer): void {
  try {
    while (writeSync(file, piece) === piece.length);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

function mount(directory: string) {
  // All rounds together make some 20 MiB of orders.
  const args = ['-t', 'tmpfs', '-o', 'size=64m,mode=700', 'tmpfs', directory]
  return spawnSync('mount', args, { encoding: 'utf8' })
}

function unmount(directory: string): void {
  spawnSync('umount', ['--lazy', directory])
}
