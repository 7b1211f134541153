import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ENDPOINTS } from '../../programs/mock-drive/endpoint.ts'
import { ENDPOINT_NAMES } from '../../programs/mock-drive/endpoint-names.ts'
import { VARIABLE_NAMES } from '../../programs/mock-drive/env.ts'
import { SCENARIO_NAMES } from '../../programs/mock-drive/scenarios.ts'
import { startMockProgram } from '../support/mock-program.ts'
import { runPlatform, temporaryDirectory } from '../support/platform.ts'

const start = (cwd: string, env: Readonly<Record<string, string>> = {}) =>
  startMockProgram('mock-drive', { cwd, env: { MOCK_DRIVE_PORT: '0', ...env } })

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`the mock drive prints one line, serves, writes no file, and ends with 0 on ${signal}`, async () => {
    using directory = temporaryDirectory()
    await using mock = await start(directory.path)
    assert.equal((await fetch(`${mock.url}/oauth/users/info`)).status, 401)
    assert.equal(await mock.end(signal), 0)
    assert.match(mock.stderr(), /^mock drive listening on 127\.0\.0\.1:\d+ \(storage=memory\)\n$/)
    assert.equal(mock.stdout(), '')
    assert.deepEqual(readdirSync(directory.path), [])
  })
}

test('with MOCK_DRIVE_DIR the mock drive keeps its state there', async () => {
  using directory = temporaryDirectory()
  await using mock = await start(directory.path, { MOCK_DRIVE_DIR: 'files' })
  assert.match(mock.stderr(), /\(storage=directory\)\n$/)
  assert.deepEqual(readdirSync(join(directory.path, 'files')), ['state.json'])
  assert.equal(await mock.end('SIGTERM'), 0)
})

test('the mock drive goes on when standard error is closed', async () => {
  using directory = temporaryDirectory()
  await using mock = await start(directory.path, { MOCK_DRIVE_LOG: '1' })
  mock.closeStderr()
  for (const _ of [1, 2, 3]) assert.equal((await fetch(`${mock.url}/oauth/users/info`)).status, 401)
  assert.equal(await mock.end('SIGTERM'), 0)
})

for (const [variable, value] of [
  ['MOCK_DRIVE_PORT', 'abc'],
  ['MOCK_DRIVE_BIND', '0.0.0.0'],
  ['MOCK_DRIVE_QUOTA', 'much'],
  ['MOCK_DRIVE_SCENARIOS', '[{}]'],
] as const) {
  test(`${variable}=${value} is one ValueError line and exit code 1`, async () => {
    using directory = temporaryDirectory()
    const { code, stdout, stderr } = await runPlatform(['mock-drive'], {
      dataDir: directory.path,
      env: { [variable]: value },
    })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, new RegExp(`^ValueError: ${variable}: [^\n]+\n$`))
  })
}

test('an argument is wrong usage', async () => {
  using directory = temporaryDirectory()
  const { code } = await runPlatform(['mock-drive', '--port', '1'], { dataDir: directory.path })
  assert.equal(code, 2)
})

test('the guide lists every variable, endpoint and scenario, in their order', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/mock-drive.md'), 'utf8')
  const rowsBelow = (heading: string) => {
    const section = guide.split(/^#+ /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''
    return [...section.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, name = '']) => name)
  }
  assert.deepEqual(rowsBelow('Variables'), VARIABLE_NAMES)
  assert.deepEqual(rowsBelow('Endpoints'), ENDPOINT_NAMES)
  assert.deepEqual(rowsBelow('Scenarios'), SCENARIO_NAMES)
  assert.deepEqual(
    ENDPOINTS.map(({ name }) => name),
    ENDPOINT_NAMES,
  )
})
