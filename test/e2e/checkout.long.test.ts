import assert from 'node:assert/strict'
import { once } from 'node:events'
import { appendFileSync, globSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import {
  copyCheckout,
  hostEnvironment,
  runCommand,
  runMockProvider,
  startCommand,
  type Checkout,
} from '../support/checkout.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryDirectory, testEnvironment } from '../support/platform.ts'

const ROOT = join(import.meta.dirname, '../..')
const CACHE = 'node_modules/.cache'
const BUNDLE = `${CACHE}/platform/dependencies-*`
const VERSION = /^platform \d+\.\d+\.\d+ \(Node\.js v26\.\d+\.\d+\)\n$/

describe("on the host's Node.js", () => {
  for (const { what, command } of [
    { what: 'npx platform', command: ['npx', 'platform'] },
    { what: 'node bin/platform.mjs', command: ['node', 'bin/platform.mjs'] },
  ]) {
    test(`${what} runs on the pinned Node.js`, async () => {
      using home = temporaryDirectory()
      const { code, stdout } = await runCommand([...command, '--version'], ROOT, hostEnvironment(home.path))
      assert.match(stdout, VERSION)
      assert.equal(code, 0)
    })

    test(`${what} passes on the exit code`, async () => {
      using home = temporaryDirectory()
      const { code } = await runCommand([...command, 'unknown'], ROOT, hostEnvironment(home.path))
      assert.equal(code, 2)
    })

    test(`SIGTERM to ${what} stops the server in order`, async () => {
      using home = temporaryDirectory()
      const server = startCommand([...command, 'serve'], ROOT, hostEnvironment(home.path))
      const ended = once(server, 'close')
      let log = ''
      server.stdout?.setEncoding('utf8').on('data', (chunk: string) => (log += chunk))
      await eventually('the server is started', () => log.includes('"started"'), { timeoutMs: 300_000 })
      server.kill('SIGTERM')
      assert.deepEqual(await ended, [0, null])
      assert.match(log, /"message":"stopped"/)
    })
  }

  test('the program says how to install the dependencies', async () => {
    using checkout = copyCheckout({ installed: false })
    const { code, stderr } = await runCommand(
      ['node', 'bin/platform.mjs', '--version'],
      checkout.path,
      hostEnvironment(checkout.path),
    )
    assert.equal(stderr, 'platform: the dependencies are not installed; run "npm start" or "npm ci" first\n')
    assert.equal(code, 1)
  })

  for (const name of ['commander', 'fastify']) {
    test(`the program says how to install a package that is gone: ${name}`, async () => {
      using checkout = copyCheckout()
      rmSync(join(checkout.path, 'node_modules', name))
      const { code, stderr } = await runCommand(
        ['node', 'bin/platform.mjs', 'serve'],
        checkout.path,
        hostEnvironment(checkout.path),
      )
      const lines = stderr.trim().split('\n')
      assert.match(
        lines.at(-1) ?? '',
        new RegExp(`^platform: Cannot find package '${name}' imported from .*: run "npm ci"`),
      )
      assert.equal(code, 1)
    })
  }
})

describe('the bundle of the dependencies', () => {
  test('is used until other packages are installed', async () => {
    using checkout = copyCheckout()
    await buildBundle(checkout)
    mark(checkout)
    assert.equal((await version(checkout)).stderr, 'from the bundle\n')
    appendFileSync(join(checkout.path, 'node_modules/.package-lock.json'), '\n')
    assert.equal((await version(checkout)).stderr, '')
  })

  test('is complete after two builds at once', async () => {
    using checkout = copyCheckout()
    await Promise.all([buildBundle(checkout), buildBundle(checkout)])
    assert.equal(globSync(BUNDLE, { cwd: checkout.path }).length, 1)
    assert.equal(readdirSync(join(checkout.path, CACHE, 'platform')).length, 1)
    await version(checkout)
  })

  test('may be missing', async () => {
    using checkout = copyCheckout()
    assert.equal((await version(checkout)).stderr, '')
  })
})

describe('compiled code', () => {
  test('is kept in the checkout', async () => {
    using checkout = copyCheckout()
    await version(checkout)
    assert.ok(globSync(`${CACHE}/platform/compiled/*/*`, { cwd: checkout.path }).length > 0)
  })

  test('is kept in the temporary directory when the checkout is read-only', async () => {
    using checkout = copyCheckout()
    // Root may write into any directory, but not make one inside a file.
    writeFileSync(join(checkout.path, CACHE), '')
    assert.equal((await version(checkout)).stderr, '')
    assert.ok(globSync('node-compile-cache/*/*', { cwd: checkout.path }).length > 0)
  })

  test('is not kept by the mock provider, which writes no file', async () => {
    using checkout = copyCheckout()
    using home = temporaryDirectory()
    const before = checkout.files()
    await runMockProvider(join(checkout.path, 'bin/platform.mjs'), home.path)
    assert.deepEqual(readdirSync(home.path), [])
    assert.deepEqual(checkout.files(), before)
  })
})

/** The directory for temporary files is the checkout's own, so that a cache there is empty at first. */
function environment({ path }: Checkout): NodeJS.ProcessEnv {
  return testEnvironment(path, { TMPDIR: path })
}

async function buildBundle(checkout: Checkout): Promise<void> {
  const command = [process.execPath, 'scripts/build-dependencies.ts']
  const { code, stderr } = await runCommand(command, checkout.path, environment(checkout))
  assert.equal(code, 0, stderr)
}

/** Lets a package of the bundle print a line when it is loaded. */
function mark({ path }: Checkout): void {
  const [file = ''] = globSync(`${BUNDLE}/commander.mjs`, { cwd: path })
  appendFileSync(join(path, file), "\nconsole.error('from the bundle')\n")
}

async function version(checkout: Checkout): Promise<{ readonly stderr: string }> {
  const command = [process.execPath, 'bin/platform.mjs', '--version']
  const { stdout, stderr } = await runCommand(command, checkout.path, environment(checkout))
  assert.match(stdout, VERSION)
  return { stderr }
}
