import assert from 'node:assert/strict'
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runPlatform, servePlatform, temporaryDirectory } from '../support/platform.ts'

const GUESSABLE = 'changeme'.repeat(4)

test('a guessable signing key stops the start, from any source', async () => {
  const sources: readonly ((dataDir: string) => Record<string, string>)[] = [
    () => ({ JWT_SECRET: GUESSABLE }),
    (dataDir) => {
      writeFileSync(join(dataDir, 'platform.toml'), `auth.jwt_secret = "${GUESSABLE}"\n`)
      return {}
    },
    (dataDir) => {
      writeFileSync(join(dataDir, 'jwt-secret'), `${GUESSABLE}\n`, { mode: 0o600 })
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
    assert.match(stderr, /auth\.jwt_secret: expected .*guess/)
    assert.ok(!`${stdout}${stderr}`.includes('changeme'))
  }
})

test('files are private to their owner, and a readable database causes a warning', async () => {
  using directory = temporaryDirectory()
  await using first = await servePlatform({ dataDir: directory.path })
  for (const name of ['jwt-secret', 'platform.db', 'platform.db-wal', 'platform.db-shm'])
    assert.equal(statSync(join(directory.path, name)).mode & 0o777, 0o600, name)
  assert.deepEqual(warnings(first.logs()), [])
  assert.equal(await first.stop(), 0)

  chmodSync(join(directory.path, 'platform.db'), 0o644)
  await using second = await servePlatform({ dataDir: directory.path })
  const [warning] = warnings(second.logs())
  assert.match(String(warning), /chmod 600/)
})

function warnings(logs: readonly { level: string; message: string }[]): string[] {
  return logs
    .filter(({ level, message }) => level === 'warn' && /database/.test(message))
    .map(({ message }) => message)
}
