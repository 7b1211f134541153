import assert from 'node:assert/strict'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'

const REPLACEMENTS: Readonly<Record<string, (path: string) => void>> = {
  'moved away': (path) => renameSync(path, `${path}.moved`),
  removed: (path) => rmSync(path),
}

const order = (platform: ServedPlatform, id: string) =>
  platform.call('POST', '/orders', { body: { order_id: id, platform: 'live', amount_cents: 1 } })

async function valueOf(platform: ServedPlatform, metric: string): Promise<string | undefined> {
  const text = await (await platform.call('GET', '/metrics')).text()
  return new RegExp(`^${metric} (.*)$`, 'm').exec(text)?.[1]
}

for (const [what, replace] of Object.entries(REPLACEMENTS)) {
  test(`a platform whose database file was ${what} acknowledges no order, and says why`, async () => {
    using directory = temporaryDirectory()
    await using platform = await servePlatform({ dataDir: directory.path, modules: 'api' })
    assert.equal((await order(platform, 'before')).status, 201)
    assert.equal(await valueOf(platform, 'platform_store_up'), '1')

    replace(join(directory.path, 'platform.db'))
    const refused = await order(platform, 'after')
    assert.equal(refused.status, 503)
    assert.equal(((await refused.json()) as { code: string }).code, 'store_unavailable')
    const health = await platform.call('GET', '/health')
    assert.equal(health.status, 503)
    assert.equal(((await health.json()) as { checks: { store: string } }).checks.store, 'failing')
    assert.equal(await valueOf(platform, 'platform_store_up'), '0')
    const line = await eventually('a log line', () =>
      platform.logs().find(({ message }) => message.startsWith('the database is unavailable')),
    )
    assert.match(JSON.stringify(line), /platform\.db .* while it was open/)
  })
}
