import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { VARIABLE_NAMES } from '../../programs/mock-pay/env.ts'
import { SCENARIO_KINDS } from '../../programs/mock-pay/scenarios.ts'
import { TEST_VALUES } from '../../programs/mock-pay/secrets.ts'
import { TEST_PRIVATE_KEY } from '../../programs/mock-pay/test-key.ts'
import { startMockProgram } from '../support/mock-program.ts'
import { runPlatform, temporaryDirectory } from '../support/platform.ts'

const start = (cwd: string, env: Readonly<Record<string, string>> = {}) =>
  startMockProgram('mock-pay', { cwd, env: { MOCK_PAY_PORT: '0', ...env } })

test('the mock of payments prints one line, serves, writes no file, and ends with 0 on SIGTERM', async () => {
  using directory = temporaryDirectory()
  await using mock = await start(directory.path)
  assert.equal((await fetch(`${mock.url}/v1/refunds`)).status, 401)
  assert.match(await (await fetch(mock.url)).text(), /There is no payment yet/)
  assert.equal(await mock.end('SIGTERM'), 0)
  assert.match(mock.stderr(), /^mock pay listening on 127\.0\.0\.1:\d+ \(secrets=test values\)\n$/)
  assert.equal(mock.stdout(), '')
  assert.deepEqual(readdirSync(directory.path), [])
})

test('with MOCK_PAY_SECRETS_DIR it makes the secrets of a platform there, and says so', async () => {
  using directory = temporaryDirectory()
  await using mock = await start(directory.path, { MOCK_PAY_SECRETS_DIR: 'secrets' })
  assert.match(mock.stderr(), new RegExp(`\\(secrets=${join(directory.path, 'secrets')}\\)\n$`))
  const files = readdirSync(join(directory.path, 'secrets'))
  for (const name of ['pay-alipay.env', 'pay-stripe.env', 'pay-wechatpay.env'])
    assert.ok(files.includes(name))
  assert.equal(await mock.end('SIGINT'), 0)
})

test('a wrong variable is one ValueError line and exit code 1, an argument is wrong usage', async () => {
  using directory = temporaryDirectory()
  const run = (args: string[], env: Record<string, string> = {}) =>
    runPlatform(['mock-pay', ...args], { dataDir: directory.path, env })
  const { code, stdout, stderr } = await run([], { MOCK_PAY_BIND: '0.0.0.0' })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^ValueError: MOCK_PAY_BIND: [^\n]+\n$/)
  assert.equal((await run(['--port', '1'])).code, 2)
})

test('the guide lists every variable and scenario in their order, and has the test values', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/guide/mock-pay.md'), 'utf8')
  const rowsBelow = (heading: string) => {
    const section = guide.split(/^#+ /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''
    return [...section.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, name = '']) => name)
  }
  assert.deepEqual(rowsBelow('Variables'), VARIABLE_NAMES)
  assert.deepEqual(rowsBelow('Scenarios'), SCENARIO_KINDS)
  for (const values of Object.values(TEST_VALUES))
    for (const [name, value] of Object.entries(values)) assert.ok(guide.includes(`${name}=${value}`), name)
  assert.ok(guide.includes(TEST_PRIVATE_KEY.trim()))
})
