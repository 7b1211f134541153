import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { buildPlatform } from '../../scripts/build-platform.ts'
import { commitOf } from '../../scripts/release/commit.ts'
import { hostArchitecture } from '../../scripts/release/architecture.ts'
import { buildExecutable } from '../../scripts/release/executable.ts'
import { runMockProvider } from '../support/checkout.ts'
import { eventually } from '../support/eventually.ts'
import { runPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'

const ORDER = { order_id: 'order-1', platform: 'live', amount_cents: 4_990 }

const directory = temporaryDirectory()
after(() => directory[Symbol.dispose]())

async function buildAs(name: string): Promise<string> {
  const output = join(directory.path, name)
  await buildExecutable({ output, architecture: hostArchitecture() })
  return output
}

let executable: Promise<string> | undefined
const firstBuild = () => (executable ??= buildAs('first'))

/** Each builds the release, and returns its program. */
const RELEASES = {
  'a few files': async () => {
    const files = join(directory.path, 'files')
    await buildPlatform(files)
    return join(files, 'platform.cjs')
  },
  'one executable': firstBuild,
}

for (const [kind, buildRelease] of Object.entries(RELEASES))
  test(`the release as ${kind} works as the program from source does`, async (t) => {
    await followRelease(t, await buildRelease())
  })

test('two builds of the executable are equal', async () => {
  const [first, second] = [await firstBuild(), await buildAs('second')].map((file) =>
    hash('sha256', readFileSync(file)),
  )
  assert.equal(first, second)
})

async function followRelease(t: TestContext, program: string): Promise<void> {
  const scope = scopeOf(t)
  const { path: dataDir } = scope.use(temporaryDirectory())
  // Neither Node.js nor a packaged module is in the PATH.
  const platform = scope.use(await servePlatform({ dataDir, program, env: { PATH: '/usr/bin:/bin' } }))
  const text = async (path: string, base = platform.url) => (await fetch(`${base}${path}`)).text()

  await t.test('it creates and lists orders', async () => {
    assert.equal((await platform.call('POST', '/orders', { body: ORDER })).status, 201)
    const page = (await (await platform.call('GET', '/orders')).json()) as { items: { order_id: string }[] }
    assert.deepEqual(
      page.items.map(({ order_id }) => order_id),
      ['order-1'],
    )
  })

  await t.test('its reading thread counts orders', async () => {
    // The worker counts at the start and then every 30 s.
    const counted = async () => /^platform_orders\{.*\} \d/m.test(await text('/metrics'))
    await eventually('orders are counted', counted, { timeoutMs: 120_000 })
  })

  await t.test('it answers 200 commits in a row, with a checkpoint thread beside them', async () => {
    for (let count = 0; count < 200; count++) {
      const body = { ...ORDER, order_id: `more-${count}` }
      assert.equal((await platform.call('POST', '/orders', { body })).status, 201)
    }
    const health = await fetch(`${platform.url}/health`)
    assert.equal(health.status, 200)
    const clean = (id?: string) => id?.replace(/-dirty$/, '')
    const { commit } = (await health.json()) as { commit?: string }
    // Files may change while the test runs.
    assert.equal(clean(commit), clean(commitOf()?.id))
  })

  await t.test('it serves its pages with their scripts and styles', async () => {
    for (const [url, path] of [
      [platform.url, '/docs'],
      [platform.gatewayUrl, '/tunnels'],
    ] as const) {
      const page = await text(path, url)
      const files = [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)].map(([, file = '']) => file)
      assert.equal(files.length, 2, page)
      for (const file of files) assert.equal((await fetch(`${url}${file}`)).status, 200, file)
    }
  })

  await t.test('its threads copy and hash a backup', async () => {
    const backup = await runPlatform(['data', 'backup'], { dataDir, program })
    assert.equal(backup.code, 0, backup.stderr)
    const [file = ''] = globSync(join(dataDir, 'backups', '*'))
    const verified = await runPlatform(['data', 'verify', file], { dataDir, program })
    assert.equal(verified.code, 0, verified.stderr)
  })

  await t.test('its threads run their own code only', () => {
    assert.doesNotMatch(platform.stderr(), /Usage: platform/)
  })

  await t.test('its mock provider writes no file', async () => {
    const { path: home } = scope.use(temporaryDirectory())
    await runMockProvider(program, home)
    assert.deepEqual(readdirSync(home), [])
  })

  await t.test('it stops in order', async () => {
    assert.equal(await platform.stop(), 0)
    assert.doesNotMatch(platform.stderr(), /Error/)
  })
}
