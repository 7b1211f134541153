import assert from 'node:assert/strict'
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'

const PLACEHOLDER = 'changeme'.repeat(4)

test('a placeholder as signing key stops the start, from any source', async () => {
  const sources: readonly ((dataDir: string) => Record<string, string>)[] = [
    () => ({ JWT_SECRET: PLACEHOLDER }),
    (dataDir) => {
      writeFileSync(join(dataDir, 'platform.toml'), `auth.jwt_secret = "${PLACEHOLDER}"\n`)
      return {}
    },
    (dataDir) => {
      writeFileSync(join(dataDir, 'jwt-secret'), `${PLACEHOLDER}\n`, { mode: 0o600 })
      return {}
    },
  ]
  for (const source of sources) {
    using directory = temporaryDirectory()
    const { code, stdout, stderr } = await runPlatform(['serve'], {
      dataDir: directory.path,
      env: { LISTEN_ADDR: '127.0.0.1:0', ...source(directory.path) },
    })
    assert.equal(code, 2, stderr)
    assert.match(stderr, /auth\.jwt_secret: expected .*placeholder/)
    assert.ok(!`${stdout}${stderr}`.includes('changeme'))
  }
})

test('files are private to their owner, and a readable database causes a warning', async () => {
  using directory = temporaryDirectory()
  await using first = await servePlatform({ dataDir: directory.path })
  for (const name of ['identity-key', 'jwt-secret', 'platform.db', 'platform.db-wal', 'platform.db-shm'])
    assert.equal(statSync(join(directory.path, name)).mode & 0o777, 0o600, name)
  assert.deepEqual(warnings(first.logs()), [])
  assert.equal(await first.stop(), 0)

  chmodSync(join(directory.path, 'platform.db'), 0o644)
  await using second = await servePlatform({ dataDir: directory.path })
  const [warning] = warnings(second.logs())
  assert.match(String(warning), /chmod 600/)
})

test('a signing key that is easy to guess causes a warning', async () => {
  using directory = temporaryDirectory()
  const key = 'a'.repeat(32)
  await using platform = await servePlatform({ dataDir: directory.path, env: { JWT_SECRET: key } })
  const warning = platform
    .logs()
    .find(({ level, message }) => level === 'warn' && /easy to guess/.test(message))
  assert.match(String(warning?.message), /^auth\.jwt_secret .*openssl rand/)
  assert.ok(!JSON.stringify(platform.logs()).includes(key))
})

function warnings(logs: readonly { level: string; message: string }[]): string[] {
  return logs
    .filter(({ level, message }) => level === 'warn' && /database/.test(message))
    .map(({ message }) => message)
}
