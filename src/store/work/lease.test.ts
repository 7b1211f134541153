import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
import { createLease } from './lease.ts'
import type { Store } from '../store.ts'

const TTL_MS = 10_000
const HOLDER = 'other-host/1/x'

/** The store, with something that happens before each of its writes. */
const beforeWrites = (store: Store, happen: () => Promise<unknown>): Store => ({
  ...store,
  write: async (work, options) => {
    await happen()
    return store.write(work, options)
  },
})

onEveryDialect('taking over a lease', (dialect) => {
  test('fails when its silent holder renews it in the last moment', async () => {
    const clock = fakeClock()
    await using world = await testStore(dialect, clock)
    const { store } = world
    let expiresAt = clock.now() + 365 * 86_400_000
    await store.write(({ db }) =>
      db.insertInto('leases').values({ name: 'delivery', holder: HOLDER, expires_at: expiresAt }).execute(),
    )
    const renew = () =>
      store.write(({ db }) => db.updateTable('leases').set({ expires_at: ++expiresAt }).execute())
    const lease = createLease({ store: beforeWrites(store, renew), clock, name: 'delivery', ttlMs: TTL_MS })
    assert.equal(await lease.hold(), false)
    clock.advance(TTL_MS)
    assert.equal(await lease.hold(), false)
    const rows = await store.read.db.selectFrom('leases').select(['holder', 'expires_at']).execute()
    assert.deepEqual(rows, [{ holder: HOLDER, expires_at: expiresAt }])
  })
})
