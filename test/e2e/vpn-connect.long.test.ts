import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { startGatewayDouble, type DoubleSession } from '../support/gateway-double.ts'
import { PROGRAM, runPlatform, temporaryDirectory, testEnvironment } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'
import { tokenUntil } from '../support/vpn-world.ts'

const PATIENCE = { timeoutMs: 120_000 }
const TOKEN = tokenUntil(1_000)
const NOBODY = 'http://127.0.0.1:1'

/** A directory with a token in it, and the command that runs there. */
function world(t: TestContext) {
  const scope = scopeOf(t)
  const directory = scope.use(temporaryDirectory()).path
  writeFileSync(join(directory, 'token'), `${TOKEN}\n`, { mode: 0o600 })
  return {
    scope,
    directory,
    run: (args: readonly string[]) => runPlatform(['vpn', 'connect', ...args], { dataDir: directory }),
    connect(args: readonly string[]) {
      const child = spawn(process.execPath, [PROGRAM, 'vpn', 'connect', '--token-file', 'token', ...args], {
        cwd: directory,
        env: testEnvironment(directory, {}),
        stdio: 'pipe',
      })
      const ended = once(child, 'close').then(([code]) => code as number | null)
      let stdout = ''
      let stderr = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
      scope.defer(async () => {
        child.kill('SIGKILL')
        await ended
      })
      return { child, ended, stdout: () => stdout, stderr: () => stderr }
    },
  }
}

async function sessionOf(gateway: { readonly sessions: readonly DoubleSession[] }): Promise<DoubleSession> {
  return eventually('a session', () => gateway.sessions[0], PATIENCE)
}

describe('platform vpn connect', { concurrency: 4 }, () => {
  const WRONG_USAGE: readonly (readonly [args: readonly string[], named: RegExp])[] = [
    [[], /--gateway/],
    [['--gateway', NOBODY], /--token-file/],
    [['--gateway', '127.0.0.1:9994', '--token-file', 'token'], /--gateway.*http:\/\/host:9994/],
    [['--gateway', NOBODY, '--gateway', 'ftp://host', '--token-file', 'token'], /--gateway/],
    [['--gateway', 'http://ann:geheim@host', '--token-file', 'token'], /--gateway.*without user/],
    [['--gateway', NOBODY, '--token-file', 'none'], /--token-file.*none/],
    [['--gateway', NOBODY, '--token-file', 'empty'], /--token-file.*"empty" is empty/],
    [['--gateway', NOBODY, '--token-file', 'folder'], /--token-file.*"folder" is not a regular file/],
    [['--gateway', NOBODY, '--token-file', 'huge'], /--token-file.*"huge" is larger than 16384 bytes/],
    [['--gateway', NOBODY, '--token-file', 'token', '--device', 'my laptop'], /--device/],
    [['--gateway', NOBODY, '--token-file', 'token', '--device', 'x'.repeat(65)], /--device/],
    [['--gateway', NOBODY, '--token-file', 'token', '--token', TOKEN], /--token/],
  ]
  for (const [args, named] of WRONG_USAGE) {
    test(`"${args.join(' ').slice(0, 90)}" is refused with one line that says why`, async (t) => {
      const { run, directory } = world(t)
      writeFileSync(join(directory, 'empty'), ' \n', { mode: 0o600 })
      writeFileSync(join(directory, 'huge'), 'x'.repeat(20_000), { mode: 0o600 })
      mkdirSync(join(directory, 'folder'))
      const { code, stdout, stderr } = await run(args)
      assert.equal(code, 2, stderr)
      assert.match(stderr, named)
      assert.match(stderr, /^[^\n]+\n$/, 'one line')
      assert.equal(stdout, '')
      assert.doesNotMatch(stderr, /geheim/)
    })
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`prints JSON lines until ${signal}, then closes the session and ends well`, async (t) => {
      const { scope, connect } = world(t)
      const gateway = scope.use(await startGatewayDouble())
      const { child, ended, stdout, stderr } = connect([
        '--gateway',
        gateway.url,
        '--device',
        'laptop',
        '--json',
      ])
      const session = await sessionOf(gateway)
      await eventually('it is connected', () => stdout().includes('"connected"'), PATIENCE)
      child.kill(signal)
      assert.equal(await ended, 0, stderr())
      const lines = stdout()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
      assert.deepEqual(
        lines.map(({ at, ...rest }) => (assert.match(String(at), /^\d{4}-.*Z$/), rest)),
        [
          { state: 'connecting', gateway: gateway.url },
          { state: 'connected', gateway: gateway.url, virtual_ip: '100.64.0.2' },
          { state: 'disconnected', gateway: gateway.url, virtual_ip: '100.64.0.2', reason: 'stopped' },
        ],
      )
      assert.equal(stderr(), '')
      assert.deepEqual(await eventually('the session ends', () => session.closed, PATIENCE), { code: 1000 })
      assert.equal(gateway.attempts[0]?.url, '/vpn?device=laptop')
    })
  }

  test('prints aligned lines without colours when nobody watches, and nothing that could steer a terminal', async (t) => {
    const { scope, connect } = world(t)
    const [first, second] = [scope.use(await startGatewayDouble()), scope.use(await startGatewayDouble())]
    first.script = { refuse: { status: 503, body: JSON.stringify({ message: 'No\u001b[2J address.' }) } }
    const urls = ['--gateway', `${first.url}/vpn`, '--gateway', second.url, '--no-failback']
    const { child, ended, stdout } = connect(urls)
    await eventually('it is connected', () => / connected /.test(stdout()), PATIENCE)
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
    const withoutTimes = stdout().replaceAll(/^\S+Z {2}/gm, '')
    const address = '100.64.0.2     '
    assert.equal(
      withoutTimes,
      [
        `connecting    ${first.url}/vpn`,
        `disconnected  ${first.url}/vpn  ${' '.repeat(15)}  refused with 503: No [2J address.`,
        `connecting    ${second.url}`,
        `connected     ${second.url.padEnd(first.url.length + 4)}  ${address.trimEnd()}`,
        `disconnected  ${second.url.padEnd(first.url.length + 4)}  ${address}  stopped`,
        '',
      ].join('\n'),
    )
  })

  for (const [code, why] of [
    [4403, /operator/],
    [4409, /same device/],
  ] as const) {
    test(`ends with 1 and the reason when a session ends with ${code}`, async (t) => {
      const { scope, connect } = world(t)
      const gateway = scope.use(await startGatewayDouble())
      const { ended, stdout, stderr } = connect(['--gateway', gateway.url, '--json'])
      const session = await sessionOf(gateway)
      session.close(code)
      assert.equal(await ended, 1)
      assert.match(stderr(), /^platform: [^\n]+\n$/)
      assert.match(stderr(), why)
      assert.match(stdout(), why)
    })
  }

  test('never shows the token, and takes up the one that comes into the file', async (t) => {
    const { scope, directory, connect } = world(t)
    const gateway = scope.use(await startGatewayDouble())
    const body = JSON.stringify({ code: 'unauthenticated', message: `bad token: ${TOKEN}` })
    gateway.script = { refuse: { status: 401, body } }
    const { child, ended, stdout, stderr } = connect(['--gateway', gateway.url, '--json'])
    await eventually('it says that it waits', () => stdout().includes('waiting for another token'), PATIENCE)
    gateway.script = {}
    writeFileSync(join(directory, 'token'), tokenUntil(2_000))
    await eventually('it is connected', () => stdout().includes('"connected"'), PATIENCE)
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
    assert.ok(!stdout().includes(TOKEN) && !stderr().includes(TOKEN))
    assert.equal(gateway.attempts.at(-1)?.headers.authorization, `Bearer ${tokenUntil(2_000)}`)
  })

  test('warns of a token file that other users can read', async (t) => {
    const { scope, directory, connect } = world(t)
    chmodSync(join(directory, 'token'), 0o644)
    const gateway = scope.use(await startGatewayDouble())
    const { child, ended, stdout, stderr } = connect(['--gateway', gateway.url])
    await eventually('it is connected', () => / connected /.test(stdout()), PATIENCE)
    child.kill('SIGTERM')
    assert.equal(await ended, 0)
    assert.match(
      stderr(),
      /^platform: --token-file: "token" can be read by other users; run chmod 600 on it\n$/,
    )
  })

  test('ends when nobody reads its lines any more', async (t) => {
    const { scope, connect } = world(t)
    const gateway = scope.use(await startGatewayDouble())
    const { child, ended } = connect(['--gateway', gateway.url])
    const session = await sessionOf(gateway)
    child.stdout.destroy()
    session.drop()
    assert.equal(await ended, 0)
  })
})
