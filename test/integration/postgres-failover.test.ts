import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { openStore } from '../../src/store/open.ts'
import { eventually } from '../support/eventually.ts'
import { startPostgres } from '../support/postgres.ts'
import { scopeOf } from '../support/scope.ts'

const COMMITS = 20

async function run(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

test('a store follows the promotion of a standby, with every commit that it has acknowledged', async (t) => {
  const scope = scopeOf(t)
  const primary = await startPostgres()
  scope.defer(() => primary.stop())
  const standby = await startPostgres({ primary: primary.url })
  scope.defer(() => standby.stop())
  await run(
    primary.url,
    'create table commits (number integer)',
    'alter database postgres set synchronous_commit = on',
    `alter system set synchronous_standby_names = '*'`,
    'select pg_reload_conf()',
  )
  const hosts = [primary, standby].map(({ url }) => new URL(url).host).join(',')
  const store = await openStore({
    database: { kind: 'postgres', url: new Secret(`postgres://postgres@${hosts}/postgres`) },
    clock: systemClock,
    metrics: noMetrics,
    logger: silentLogger,
  })
  scope.defer(() => store.close())
  const commit = (number: number) =>
    store.write(({ db }) => sql`insert into commits values (${number})`.execute(db))

  for (let number = 1; number <= COMMITS; number++) await commit(number)
  await primary.stop()
  await assert.rejects(commit(COMMITS + 1), { code: 'store_unavailable' })
  await run(standby.url, 'select pg_promote()')
  await eventually('a commit on the promoted server', () => commit(COMMITS + 2).then(() => true))

  const { rows } = await sql<{ number: number }>`select number from commits order by number`.execute(
    store.read.db,
  )
  const numbers = rows.map(({ number }) => number)
  const acknowledged = Array.from({ length: COMMITS }, (_, index) => index + 1)
  assert.deepEqual(numbers, [...acknowledged, COMMITS + 2])
})
