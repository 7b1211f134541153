import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { eventually } from '../../../test/support/eventually.ts'
import { startFaultProxy, type FaultProxy } from '../../../test/support/fault-proxy.ts'
import { createTestDatabase } from '../../../test/support/postgres.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { Secret } from '../../kernel/secret.ts'
import { migrate } from '../migrate.ts'
import { openStore, type DatabaseAddress } from '../open.ts'
import type { Store } from '../store.ts'
import { changeRows } from '../tables.ts'

/** A database behind two proxies, each of which stands for a server of its own. */
async function openWorld(t: TestContext) {
  const { url, drop } = await createTestDatabase()
  t.after(drop)
  const port = Number(new URL(url).port)
  const [first, second] = [await startFaultProxy(port), await startFaultProxy(port)]
  const connect = async (hosts: readonly FaultProxy[], parameters = ''): Promise<Store> => {
    const { username, pathname } = new URL(url)
    const list = hosts.map((host) => `127.0.0.1:${host.port}`).join(',')
    const database: DatabaseAddress = {
      kind: 'postgres',
      url: new Secret(`postgres://${username}@${list}${pathname}${parameters}`),
    }
    const store = await openStore({
      database,
      clock: systemClock,
      metrics: noMetrics,
      logger: silentLogger,
    })
    t.after(() => store.close())
    return store
  }
  // After the stores, which would wait for a server that is gone.
  t.after(() => Promise.all([first.close(), second.close()]))
  return { first, second, connect }
}

const read = ({ read: { db } }: Store) => sql`select 1`.execute(db)
const works = (store: Store) =>
  read(store).then(
    () => true,
    () => false,
  )

test('the next server of the list is used when the first cannot be reached', async (t) => {
  const { first, second, connect } = await openWorld(t)
  await first.close()
  const store = await connect([first, second])
  await store.check()
  assert.ok(second.taken > 0)
})

test('queries on a server that falls silent are ended, and the other server is used', async (t) => {
  const { first, second, connect } = await openWorld(t)
  const store = await connect([first, second])
  await store.check()
  first.disturb({ hold: true })
  await assert.rejects(read(store), { code: 'store_unavailable' })
  await eventually('the other server is used', () => works(store))
})

test('while no server can be reached, requests fail without a connection of their own', async (t) => {
  const { first, connect } = await openWorld(t)
  const store = await connect([first])
  await store.check()
  first.disturb({ resetAfter: 1 })
  first.cut()
  await eventually('the loss is noticed', async () => !(await works(store)))
  const before = first.taken
  const results = await Promise.all(Array.from({ length: 500 }, () => works(store)))
  assert.ok(results.every((result) => !result))
  assert.ok(first.taken - before < 50, `${first.taken - before} connections`)
  first.disturb()
  await eventually('the server is used again', () => works(store))
})

const setReadOnly = (store: Store, value: 'on' | 'off') =>
  sql
    .raw(
      `begin read write; do $$ begin execute format('alter database %I set default_transaction_read_only = ${value}',
        current_database()); end $$; commit`,
    )
    .execute(store.read.db)
const change = (store: Store) =>
  store
    .write(({ db }) => sql`create table if not exists changes ()`.execute(db))
    .then(
      () => true,
      () => false,
    )

test('refused changes make the servers be asked once a second, however many there are', async (t) => {
  const { first, second, connect } = await openWorld(t)
  await setReadOnly(await connect([first]), 'on')
  const store = await connect([first, second], '?target_session_attrs=any')
  await store.check()
  const [from, before] = [performance.now(), second.taken]
  for (let number = 0; number < 50; number++) assert.equal(await change(store), false)
  const rounds = second.taken - before
  assert.ok(rounds <= 1 + (performance.now() - from) / 1_000, `${rounds} rounds`)
})

test('a name that leads to a server that takes changes is used anew', async (t) => {
  const { first, connect } = await openWorld(t)
  // As on a standby, each connection refuses changes; a new one then leads to the primary.
  await setReadOnly(await connect([first]), 'on')
  const store = await connect([first])
  assert.equal(await change(store), false)
  await setReadOnly(await connect([first]), 'off')
  await eventually('a change is taken', () => change(store))
})

test('a list without a server that takes changes is refused, and names each', async (t) => {
  const { first, second, connect } = await openWorld(t)
  const writable = await connect([first])
  await setReadOnly(writable, 'on')
  const store = await connect([first, second])
  await assert.rejects(store.check(), ({ cause }: Error) =>
    /no server takes changes \(127.*: it takes no changes; 127.*: it takes no changes\)/.test(String(cause)),
  )
  const any = await connect([first, second], '?target_session_attrs=any')
  await any.check()
})

test('with pgbouncer=true no statement has a name, and each transaction sets its limits', async (t) => {
  const { first, connect } = await openWorld(t)
  const store = await connect([first], '?pgbouncer=true')
  const { rows: outside } = await sql<{
    limit: string
  }>`select current_setting('lock_timeout') as limit`.execute(store.read.db)
  const remove = changeRows((on, name: string) => on.deleteFrom('leases').where('name', '=', name))
  await migrate(store, systemClock)
  await store.write((tx) => remove(tx, 'a'))
  const { rows } = await store.write(({ db }) =>
    sql<{ limit: string; idle: string; names: number }>`
    select current_setting('lock_timeout') as limit, current_setting('idle_in_transaction_session_timeout') as idle,
      (select count(*) from pg_prepared_statements) as names`.execute(db),
  )
  assert.deepEqual([outside, rows], [[{ limit: '0' }], [{ limit: '5s', idle: '10s', names: 0 }]])
})
