import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { freePort, ownLoopback } from '../support/loopback.ts'
import { runPlatform, servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { ResumingReader } from '../support/resuming-reader.ts'
import { scopeOf } from '../support/scope.ts'

const ORDERS = 300
// The command is killed after a time that grows by this factor, until one has time enough.
const [FIRST_MS, GROWTH] = [400, 1.15]

async function createOrders({ call }: ServedPlatform, ids: readonly string[]): Promise<void> {
  for (const order_id of ids) {
    const { status } = await call('POST', '/orders', {
      body: { order_id, platform: 'live', amount_cents: 4_990 },
    })
    assert.equal(status, 201)
  }
}

const idsOf = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`)
const seenBy = (reader: ResumingReader) =>
  reader.seen.map(({ data }) => (JSON.parse(data) as { subject: string }).subject)

test('an installation that moves to PostgreSQL over kills goes on where it was, and is restored from its backup', async (t) => {
  const scope = scopeOf(t)
  const { path: dataDir } = scope.use(temporaryDirectory())
  const address = `${ownLoopback()}:${await freePort()}`
  const serve = async (directory: string, env: Readonly<Record<string, string>> = {}) =>
    scope.use(
      await servePlatform({
        dataDir: directory,
        modules: 'api,worker',
        env: { LISTEN_ADDR: address, API_RATE_LIMIT: '0', ...env },
      }),
    )
  const small = await serve(dataDir)
  const reader = scope.use(
    new ResumingReader(small.url, '/events?subjects=order.created', { lastEventId: '0' }),
  )
  const before = idsOf('before', ORDERS)
  await createOrders(small, before)
  const token = await runPlatform(['token', 'issue', 'admin'], { dataDir })
  assert.equal(await small.stop(), 0)

  const { url, drop } = await createTestDatabase()
  t.after(drop)
  const copy = (options: readonly string[], wrapper: readonly string[] = []) =>
    runPlatform(['db', 'copy', '--to', url, ...options], { dataDir, wrapper })
  let kills = 0
  for (let limitMs = FIRST_MS; ; limitMs *= GROWTH) {
    const { code, stderr } = await copy([], ['timeout', '--signal=KILL', String(limitMs / 1_000)])
    // One that is killed after its last step is complete.
    if (code === 0 || /its table \w+ has rows/.test(stderr)) break
    assert.equal(stderr, '', 'each failure is a kill')
    kills++
  }
  const verified = await copy(['--verify'])
  assert.equal(verified.code, 0, verified.stderr)
  assert.match(verified.stdout, new RegExp(`orders +${ORDERS} +${ORDERS} +equal`))
  t.diagnostic(`${kills} kills`)
  assert.ok(kills > 0)

  const large = await serve(dataDir, { DATABASE_URL: url })
  const later = idsOf('later', 20)
  await createOrders(large, later)
  await eventually('every event', () => reader.seen.length >= ORDERS + later.length)
  assert.deepEqual(seenBy(reader), [...before, ...later])
  const me = await fetch(`${large.url}/auth/me`, {
    headers: { authorization: `Bearer ${token.stdout.trim()}` },
  })
  assert.equal(me.status, 200, 'a token from before is good')

  const { id } = (await (await large.call('POST', '/data/backups')).json()) as { id: string }
  await eventually('the backup', async () => {
    const backup = (await (await large.call('GET', `/data/backups/${id}`)).json()) as { status: string }
    return backup.status === 'completed'
  })
  assert.equal(await large.stop(), 0)
  const { path: emptyDir } = scope.use(temporaryDirectory())
  const empty = await createTestDatabase()
  t.after(empty.drop)
  const env = { DATABASE_URL: empty.url }
  const file = join(dataDir, 'backups', `${id}.dump`)
  const restored = await runPlatform(['data', 'restore', file], { dataDir: emptyDir, env })
  assert.equal(restored.code, 0, restored.stderr)
  const again = await serve(emptyDir, env)
  for (const order of [before[0], later.at(-1)])
    assert.equal((await again.call('GET', `/orders/${order}`)).status, 200)
  await createOrders(again, ['restored'])
  await eventually('the event of the restored one', () => seenBy(reader).at(-1) === 'restored')
})
