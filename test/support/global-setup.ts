import { type PostgresCluster, startPostgres } from './postgres.ts'

// One PostgreSQL server for the whole run: the test processes inherit its address and create their own databases in it.
let cluster: PostgresCluster | undefined

export async function globalSetup(): Promise<void> {
  cluster = await startPostgres()
  process.env['PLATFORM_TEST_POSTGRES'] = cluster.url
}

export async function globalTeardown(): Promise<void> {
  await cluster?.stop()
}
