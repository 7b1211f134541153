import { createMemoryDirectory, type MemoryDirectory } from './memory-directory.ts'
import { type PostgresCluster, startPostgres } from './postgres.ts'
import { createSharedTemplates } from './store.ts'

// The test processes inherit the variables that are set here.
let files: MemoryDirectory | undefined
// One PostgreSQL server for the whole run: each test process creates its own databases in it.
let cluster: PostgresCluster | undefined
let dropTemplates: (() => Promise<void>) | undefined

export async function globalSetup(): Promise<void> {
  // No test reads a file after a power loss of this machine, so none of them needs a disk.
  files = createMemoryDirectory()
  if (files) process.env['TMPDIR'] = files.path
  try {
    cluster = await startPostgres()
    process.env['PLATFORM_TEST_POSTGRES'] = cluster.url
    dropTemplates = await createSharedTemplates()
  } catch (error) {
    // The runner does not tear down what was not set up as a whole.
    await globalTeardown()
    throw error
  }
}

export async function globalTeardown(): Promise<void> {
  await dropTemplates?.()
  await cluster?.stop()
  files?.[Symbol.dispose]()
}
