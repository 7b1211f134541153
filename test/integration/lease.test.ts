import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { test } from 'node:test'
import type { Clock } from '../../src/kernel/clock.ts'
import { createLease } from '../../src/store/work/lease.ts'
import type { Store } from '../../src/store/store.ts'
import { SECOND } from '../../src/kernel/time.ts'
import { fakeClock } from '../support/clock.ts'
import { onEveryDialect, testStore } from '../support/store.ts'

const LEASE_MS = 10 * SECOND

onEveryDialect('a lease', (dialect) => {
  const leaseOn = (store: Store, clock: Clock) =>
    createLease({ store, clock, name: 'delivery', ttlMs: LEASE_MS })
  const insertLease = (store: Store, holder: string, expires_at: number) =>
    store.write(({ db }) =>
      db.insertInto('leases').values({ name: 'delivery', holder, expires_at }).execute(),
    )

  test('is acquired, renewed and released by one of several processes', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    const [a, b] = [leaseOn(world.store, clock), leaseOn(world.store, clock)]
    assert.deepEqual([await a.hold(), await b.hold()], [true, false])
    for (let turn = 0; turn < 10; turn++) {
      clock.advance(LEASE_MS / 2)
      assert.deepEqual([await a.hold(), await b.hold()], [true, false])
    }
    await b.release()
    assert.equal(await b.hold(), false, 'only its holder can release it')
    await a.release()
    assert.deepEqual([await b.hold(), await a.hold()], [true, false])
  })

  test('is lost by a holder that does not renew it in time', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    const [a, b] = [leaseOn(world.store, clock), leaseOn(world.store, clock)]
    assert.equal(await a.hold(), true)
    clock.advance(LEASE_MS)
    assert.deepEqual([await b.hold(), await a.hold()], [true, false])
  })

  test('of a process on another host is free after its expiry', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    await insertLease(world.store, 'elsewhere/1/x', clock.now() + LEASE_MS)
    const lease = leaseOn(world.store, clock)
    clock.advance(LEASE_MS - 1)
    assert.equal(await lease.hold(), false)
    clock.advance(1)
    assert.equal(await lease.hold(), true)
  })

  test('of a process on another machine with the same host name is not free, whatever its pid', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    await insertLease(world.store, `${hostname()}/2147483646/x`, clock.now() + LEASE_MS)
    assert.equal(await leaseOn(world.store, clock).hold(), false)
  })

  test('expires when its holder does not renew it, even if the expiry is in the far future', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    await insertLease(world.store, 'elsewhere/1/x', clock.now() + 365 * 86_400_000)
    const lease = leaseOn(world.store, clock)
    assert.equal(await lease.hold(), false)
    clock.advance(LEASE_MS - 1)
    assert.equal(await lease.hold(), false)
    clock.advance(1)
    assert.equal(await lease.hold(), true)
  })

  test('is kept by a holder whose clock is ahead as long as it renews it', async () => {
    const [ahead, here] = [fakeClock(Date.UTC(2038, 0, 19)), fakeClock(Date.UTC(2026, 0, 31))]
    await using world = await testStore(dialect, here)
    const [holder, other] = [leaseOn(world.store, ahead), leaseOn(world.store, here)]
    for (let turn = 0; turn < 10; turn++) {
      assert.deepEqual([await holder.hold(), await other.hold()], [true, false])
      ahead.advance(LEASE_MS / 2)
      here.advance(LEASE_MS / 2)
    }
  })

  test('of a killed process on this host is free immediately', async () => {
    // The clock does not advance: nothing expires.
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    const text = JSON.stringify(
      world.address.kind === 'sqlite'
        ? { kind: 'sqlite', path: world.address.path }
        : { kind: 'postgres', url: world.address.url.reveal() },
    )
    const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, text, String(clock.now())], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output] = (await once(holder.stdout, 'data')) as [Buffer]
    assert.equal(output.toString(), 'held')
    const lease = leaseOn(world.store, clock)
    assert.equal(await lease.hold(), false, 'its holder is alive')
    const exited = once(holder, 'exit')
    holder.kill('SIGKILL')
    await exited
    assert.equal(await lease.hold(), true)
  })
})

/** The code of a process that acquires the lease and then waits. */
const HOLDER = `
  import { Secret } from '../../src/kernel/secret.ts'
  import { silentLogger } from '../../src/kernel/logger.ts'
  import { noMetrics } from '../../src/kernel/metrics.ts'
  import { createLease } from '../../src/store/work/lease.ts'
  import { openStore } from '../../src/store/open.ts'
  const [text, now] = process.argv.slice(1)
  const { kind, path, url } = JSON.parse(text)
  const clock = { now: () => Number(now), monotonic: () => 0 }
  const database = kind === 'sqlite' ? { kind, path } : { kind, url: new Secret(url) }
  const store = await openStore({ database, clock, metrics: noMetrics, logger: silentLogger })
  const lease = createLease({ store, clock, name: 'delivery', ttlMs: ${LEASE_MS} })
  if (await lease.hold()) process.stdout.write('held')
  setInterval(() => {}, 1_000)
`
