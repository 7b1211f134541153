import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { inspectServers } from '../../src/store/files/inspect-database.ts'
import { openStore } from '../../src/store/open.ts'
import { doctorWorld } from '../support/doctor.ts'
import { eventually } from '../support/eventually.ts'
import { startPostgres } from '../support/postgres.ts'
import { scopeOf } from '../support/scope.ts'

const COMMITS = 20

// For a machine that is busy with something else.
const PATIENCE = { timeoutMs: 300_000 }

/** Returns the number of rows of the last statement. */
async function run(url: string, ...statements: readonly string[]): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  let rows = 0
  try {
    for (const statement of statements) rows = (await client.query(statement)).rowCount ?? 0
  } finally {
    await client.end()
  }
  return rows
}

test('a store follows the promotion of a standby, with every commit that it has acknowledged', async (t) => {
  const scope = scopeOf(t)
  // Set before there are commits: a reload takes effect at some later time.
  const primary = await startPostgres({ settings: ['synchronous_standby_names=*'] })
  scope.defer(() => primary.stop())
  const standby = await startPostgres({ primary: primary.url })
  scope.defer(() => standby.stop())
  await run(
    primary.url,
    'create table commits (number integer)',
    'alter database postgres set synchronous_commit = on',
  )
  const isFollowed = () => run(primary.url, `select 1 from pg_stat_replication where sync_state = 'sync'`)
  await eventually('the standby to follow', async () => (await isFollowed()) === 1, PATIENCE)
  const hosts = [primary, standby].map(({ url }) => new URL(url).host).join(',')
  const url = new Secret(`postgres://postgres@${hosts}/postgres`)
  const rolesOf = async () => (await inspectServers({ kind: 'postgres', url })).map(({ role }) => role)
  const store = await openStore({
    database: { kind: 'postgres', url },
    clock: systemClock,
    metrics: noMetrics,
    logger: silentLogger,
  })
  scope.defer(() => store.close())
  const commit = (number: number) =>
    store.write(({ db }) => sql`insert into commits values (${number})`.execute(db))

  for (let number = 1; number <= COMMITS; number++) await commit(number)
  assert.deepEqual(await rolesOf(), ['primary', 'standby'])
  await primary.stop()
  assert.deepEqual(await rolesOf(), ['unreachable', 'standby'])
  await assert.rejects(commit(COMMITS + 1), { code: 'store_unavailable' })
  await run(standby.url, 'select pg_promote()')
  await eventually('a commit on the promoted server', () => commit(COMMITS + 2).then(() => true), PATIENCE)

  const { rows } = await sql<{ number: number }>`select number from commits order by number`.execute(
    store.read.db,
  )
  const numbers = rows.map(({ number }) => number)
  const acknowledged = Array.from({ length: COMMITS }, (_, index) => index + 1)
  assert.deepEqual(numbers, [...acknowledged, COMMITS + 2])

  const { of } = await doctorWorld(t).examine({ DATABASE_URL: url.reveal() })
  const servers = of('database').filter(({ subject }) => hosts.split(',').includes(subject))
  assert.deepEqual(
    servers.map(({ subject, result, detail }) => [subject, result, detail.split(':')[0]]),
    hosts
      .split(',')
      .map((host, index) => (index === 0 ? [host, 'warning', 'unreachable'] : [host, 'ok', 'primary'])),
  )
})
