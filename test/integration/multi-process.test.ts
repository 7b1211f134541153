import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from 'pg'
import { readStream } from '../support/bus-reader.ts'
import { eventually } from '../support/eventually.ts'
import { startNats } from '../support/nats.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { chanceOf, type Chance } from '../support/random.ts'
import { scopeOf } from '../support/scope.ts'

const SUBJECTS = ['telemetry.agent.a', 'telemetry.agent.b', 'telemetry.agent.c']
// Longer than a lease lasts, so that another process has to take over from one that is alive and silent.
const SILENCE_MS = 11_000
const LEASE_HOLDER = `select holder from leases where name = 'delivery'`

interface World {
  readonly scope: AsyncDisposableStack
  readonly busUrl: string
  readonly apis: readonly ServedPlatform[]
  readonly workers: readonly ServedPlatform[]
  /** The process that delivers now. */
  deliverer(): Promise<ServedPlatform>
  /** How many messages wait. */
  pending(): Promise<number>
}

/** Two api and two worker processes on one database and one bus. */
async function world(t: TestContext, engine: 'sqlite' | 'postgres'): Promise<World> {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const nats = await startNats({ jetstream: true })
  scope.defer(() => nats.stop())
  const { url, read } = engine === 'postgres' ? await onPostgres(scope) : onSqlite(dataDir)
  const env = { BUS_SERVER: nats.url, ...(url && { DATABASE_URL: url }) }
  const serve = async (modules: string) => {
    const served = await servePlatform({ dataDir, modules, env })
    return scope.use(served)
  }
  const apis = [await serve('api'), await serve('api')]
  const workers = [await serve('worker'), await serve('worker')]
  return {
    scope,
    busUrl: nats.url,
    apis,
    workers,
    pending: async () =>
      Number((await read(`select count(*) as n from messages where status = 'pending'`))['n']),
    deliverer: () =>
      eventually('somebody to deliver', async () => {
        const processId = Number(String((await read(LEASE_HOLDER))['holder']).split('/')[1])
        return [...apis, ...workers].find(({ pid }) => pid === processId)
      }),
  }
}

async function onPostgres(scope: AsyncDisposableStack) {
  const { url, drop } = await createTestDatabase()
  scope.defer(drop)
  const client = new Client({ connectionString: url })
  await client.connect()
  scope.defer(() => client.end())
  const read = async (sql: string) => (await client.query<Record<string, unknown>>(sql)).rows[0] ?? {}
  return { url, read }
}

function onSqlite(dataDir: string) {
  const read = async (sql: string): Promise<Record<string, unknown>> => {
    using database = new DatabaseSync(join(dataDir, 'platform.db'), { readOnly: true, timeout: 1_000 })
    return database.prepare(sql).get() ?? {}
  }
  return { url: undefined, read }
}

/**
 * One client that sends numbered messages to one api after the other. An answer that does not come, or says that the
 * call may be sent again, is asked for at the next api under the same key, so that each number is accepted once.
 */
function startClient({ apis, scope }: World, chance: Chance) {
  const absent = new Set<ServedPlatform>()
  let stopping = false
  let abandoned = false
  let turn = 0
  const sent = new Map(SUBJECTS.map((subject) => [subject, 0]))

  const isAccepted = async (subject: string, payload: number): Promise<boolean> => {
    const present = apis.filter((api) => !absent.has(api))
    const api = present[turn++ % present.length] as ServedPlatform
    const headers = { 'idempotency-key': `${subject}/${payload}` }
    try {
      const answer = await api.call('POST', '/messages/publish', { body: { subject, payload }, headers })
      const body = await answer.text()
      assert.ok(answer.status === 202 || answer.status === 503, `${answer.status} ${body}`)
      return answer.status === 202
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      return false
    }
  }

  const run = async () => {
    while (!stopping) {
      const subject = chance.pick(SUBJECTS)
      const number = (sent.get(subject) ?? 0) + 1
      while (!(await isAccepted(subject, number))) {
        // Only a test that has failed gives up on a message.
        if (abandoned) return
        await pause(20)
      }
      sent.set(subject, number)
    }
  }
  const running = run()
  scope.defer(() => {
    stopping = true
    abandoned = true
  })
  return {
    sent: sent as ReadonlyMap<string, number>,
    total: () => sent.values().reduce((sum, count) => sum + count, 0),
    /** The client does not turn to this process until it is told so; a call under way is still waited for. */
    avoid: (api: ServedPlatform) => void absent.add(api),
    welcome: (api: ServedPlatform) => void absent.delete(api),
    async stop() {
      stopping = true
      await running
    },
  }
}

describe('two api and two worker processes on one database', { concurrency: 2 }, () => {
  for (const engine of ['sqlite', 'postgres'] as const) {
    test(`keep the order of a client on ${engine}, though one falls silent and one is killed`, async (t) => {
      const chance = chanceOf(t)
      const processes = await world(t, engine)
      const { busUrl, deliverer, pending } = processes
      const client = startClient(processes, chance)
      const moreThan = async (count: number) => {
        const goal = client.total() + count
        await eventually('more messages', () => client.total() >= goal, { timeoutMs: 60_000 })
      }
      await moreThan(100)

      const silent = await deliverer()
      client.avoid(silent)
      silent.signal('SIGSTOP')
      await pause(SILENCE_MS)
      // On SQLite the silent one may hold the write lock, and then nobody goes on without it.
      if (engine === 'postgres')
        assert.notEqual((await deliverer()).pid, silent.pid, 'another one has taken over')
      silent.signal('SIGCONT')
      client.welcome(silent)
      await moreThan(100)

      const killed = await deliverer()
      await killed.kill()
      client.avoid(killed)
      await moreThan(100)
      await client.stop()
      t.diagnostic(`sent ${JSON.stringify([...client.sent])}`)

      await eventually('everything to be delivered', async () => (await pending()) === 0)
      const stored = await readStream(busUrl, 'PLATFORM')
      for (const [subject, count] of client.sent) {
        const numbers = stored
          .filter((each) => each.subject === subject)
          .map(({ payload }) => Number(payload))
        assert.deepEqual(
          numbers,
          Array.from({ length: count }, (_, index) => index + 1),
          subject,
        )
      }
    })
  }
})
