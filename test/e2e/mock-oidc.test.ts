import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { startMockProgram, type MockProgram } from '../support/mock-program.ts'
import { runPlatform, temporaryDirectory } from '../support/platform.ts'

const LINE = /^mock oidc listening on 127\.0\.0\.1:\d+ \(token_mode=ok require_form=0\)\n/

function startMock(cwd: string, env: Readonly<Record<string, string>> = {}): Promise<MockProgram> {
  return startMockProgram('mock-oidc', {
    cwd,
    env: { MOCK_PORT: '0', MOCK_ISSUER: 'http://127.0.0.1:0', ...env },
  })
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`the mock provider prints one line, serves, writes no file, and ends with 0 on ${signal}`, async () => {
    using directory = temporaryDirectory()
    await using mock = await startMock(directory.path)
    const document = (await (await fetch(`${mock.url}/.well-known/openid-configuration`)).json()) as {
      issuer: string
    }
    assert.equal(document.issuer, mock.url)
    assert.equal((await fetch(`${mock.url}/userinfo`)).status, 401)
    assert.equal(await mock.end(signal), 0)
    assert.match(mock.stderr(), new RegExp(`${LINE.source}$`))
    assert.equal(mock.stdout(), '')
    assert.deepEqual(readdirSync(directory.path), [])
  })
}

test('with MOCK_LOG=1 the mock provider writes one JSON line for each request', async () => {
  using directory = temporaryDirectory()
  await using mock = await startMock(directory.path, { MOCK_LOG: '1' })
  await fetch(`${mock.url}/token`, { method: 'POST' })
  await mock.end('SIGTERM')
  const [, line = ''] = mock.stderr().split('\n')
  const { endpoint, status, check } = JSON.parse(line) as Record<string, unknown>
  assert.deepEqual({ endpoint, status, check }, { endpoint: 'token', status: 415, check: 'content_type' })
})

test('requests that the kernel has queued when SIGTERM comes are answered', async () => {
  using directory = temporaryDirectory()
  await using mock = await startMock(directory.path)
  // A stopped process accepts nothing: all connections are still in the kernel when it continues.
  mock.signal('SIGSTOP')
  const answers = await Promise.all(Array.from({ length: 50 }, () => sendRequest(mock.url)))
  mock.signal('SIGTERM')
  mock.signal('SIGCONT')
  for (const answer of answers) assert.match(await answer.text, /^HTTP\/1\.1 401 /)
  assert.equal(await mock.end('SIGCONT'), 0)
})

/** Resolves when the kernel has the request; `text` is the answer, up to the end of the connection. */
async function sendRequest(url: string): Promise<{ readonly text: Promise<string> }> {
  const socket: Socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  const { promise: isWritten, resolve } = Promise.withResolvers<void>()
  socket.write('GET /userinfo HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', () => resolve())
  await isWritten
  return { text: buffer(socket).then(String, String) }
}

test('the mock provider goes on when standard error is closed', async () => {
  using directory = temporaryDirectory()
  await using mock = await startMock(directory.path, { MOCK_LOG: '1' })
  mock.closeStderr()
  for (const _ of [1, 2, 3]) assert.equal((await fetch(`${mock.url}/userinfo`)).status, 401)
  assert.equal(await mock.end('SIGTERM'), 0)
})

const WRONG = [
  ['MOCK_PORT', 'abc'],
  ['MOCK_BIND', '0.0.0.0'],
  ['MOCK_USER_JSON', '{'],
  ['MOCK_TOKEN_MODE', 'broken'],
  ['MOCK_SCENARIOS', '[{}]'],
] as const

for (const [variable, value] of WRONG) {
  test(`${variable}=${value} is one ValueError line and exit code 1`, async () => {
    using directory = temporaryDirectory()
    const { code, stdout, stderr } = await runPlatform(['mock-oidc'], {
      dataDir: directory.path,
      env: { [variable]: value },
    })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, new RegExp(`^ValueError: ${variable}: [^\n]+\n$`))
    assert.ok(variable === 'MOCK_SCENARIOS' || stderr.includes(JSON.stringify(value)), stderr)
  })
}

test('a port that is in use is an error on one line, exit code 1', async () => {
  using directory = temporaryDirectory()
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { code, stderr } = await runPlatform(['mock-oidc'], {
    dataDir: directory.path,
    env: { MOCK_PORT: String(port) },
  })
  server.close()
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`^platform: [^\n]*EADDRINUSE[^\n]*:${port}\n$`))
})

test('an argument is wrong usage', async () => {
  using directory = temporaryDirectory()
  const { code } = await runPlatform(['mock-oidc', '--port', '1'], { dataDir: directory.path })
  assert.equal(code, 2)
})
