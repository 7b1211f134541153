import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { openApi, type Api } from '../integration/http/client.ts'
import { startNats } from '../support/nats.ts'
import { chanceOf } from '../support/random.ts'
import { scopeOf } from '../support/scope.ts'
import { fuzz } from './openapi-fuzz.ts'
import { MUTATORS } from './openapi-fuzz/mutators.ts'

// reliability, S-7: FUZZ_REQUESTS=500000 is the long form.
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 2_000)

/** Says at the end what all objects have got, which is nothing as long as nobody reached their prototype. */
const PROTOTYPE_WATCH =
  "--import=data:text/javascript,process.on('exit',()=>process.stderr.write('prototype:'+Object.keys(Object.prototype)+';'))"

test(`${REQUESTS} requests made from the OpenAPI document, half of them broken, get what it promises`, async (t) => {
  const { seed } = chanceOf(t)
  const secrets = [randomBytes(32).toString('hex')]
  const api = await served(t, secrets)
  const { requests, statuses, mutators } = await fuzz({ api, requests: REQUESTS, seed, secrets })

  for (const [operation, counts] of statuses)
    t.diagnostic(`${operation} ${JSON.stringify(Object.fromEntries(counts))}`)
  t.diagnostic(`${requests} requests, ${mutators.size} of ${MUTATORS.length} ways of being wrong`)
  assert.ok(mutators.size >= 12, [...mutators].join(', '))
  const reached = [...statuses.values()].filter((counts) => [...counts.keys()].some((status) => status < 300))
  assert.ok(reached.length >= api.places.length / 2, 'at least half of the operations were carried out')

  await assertOrdersTellTheirHistory(api)
  assert.deepEqual(
    api.platform.logs().filter(({ level }) => level === 'error'),
    [],
  )
  assert.equal(await api.platform.stop(), 0)
  assert.match(api.platform.stderr(), /prototype:;/)
})

async function served(t: TestContext, [jwtSecret = '']: readonly string[]): Promise<Api> {
  const scope = scopeOf(t)
  // A call that publishes waits for a bus that is away, so there is one.
  const nats = await startNats({ jetstream: false })
  scope.defer(() => nats.stop())
  const env = {
    BUS_SERVER: nats.url,
    JWT_SECRET: jwtSecret,
    NODE_OPTIONS: PROTOTYPE_WATCH,
  }
  return scope.use(await openApi(env))
}

interface Change {
  readonly from: string | null
  readonly to: string
}

/** Whatever was sent: each change begins where the one before it ended, and the last one is where the order stands. */
async function assertOrdersTellTheirHistory(api: Api): Promise<void> {
  const page = (await api.send({ method: 'GET', path: '/orders?limit=100' })).json()
  const { items } = page as { items: { order_id: string; status: string }[] }
  assert.notEqual(items.length, 0)
  for (const { order_id: id, status } of items) {
    const answer = await api.send({ method: 'GET', path: `/orders/${encodeURIComponent(id)}/history` })
    const { items: changes } = answer.json() as { items: Change[] }
    assert.deepEqual([null, ...changes.map(({ to }) => to)], [...changes.map(({ from }) => from), status], id)
  }
}
