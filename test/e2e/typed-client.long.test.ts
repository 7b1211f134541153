import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { buildClient } from '../../scripts/build-client.ts'
import { bareNode } from '../support/bare-node.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { firstPassword, patternOf, plain } from '../support/shown-output.ts'

const ROOT = join(import.meta.dirname, '../..')
const CLIENT = join(ROOT, 'clients/typescript')
const INSTALL = ['install', '--offline', '--no-audit', '--no-fund', '--silent']
const run = promisify(execFile)

const EXAMPLES = [...read('README.md').matchAll(/^```js\n(.*?)^```\n\n```text\n(.*?)\n```$/gms)].map(
  ([, code = '', output = '']) => ({ code, output }),
)

/** As in a browser: the types of Node.js are not needed. */
const COMPILER_OPTIONS = {
  module: 'nodenext',
  lib: ['es2023', 'dom', 'dom.asynciterable'],
  types: [],
  strict: true,
  allowJs: true,
  checkJs: true,
  noEmit: true,
  skipDefaultLibCheck: true,
}
const MISUSE = `
  import { createClient } from 'backend-platform-client'
  declare global { var process: { env: Record<string, string | undefined> } }
  const platform = createClient({ url: '' })
  // @ts-expect-error There is no such status.
  void platform.call('listOrders', { query: { status: 'lost' } })
  // @ts-expect-error The parameter of the path is missing.
  void platform.call('getOrder')
  // @ts-expect-error It is a stream.
  void platform.call('streamEvents')
  // @ts-expect-error It is no list.
  void platform.list('getMe')
`

function read(path: string): string {
  return readFileSync(join(CLIENT, path), 'utf8')
}

async function loginAt({ url, stderr }: ServedPlatform): Promise<string> {
  const body = JSON.stringify({ username: 'admin', password: firstPassword(stderr()) })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/auth/login`, { method: 'POST', headers, body })
  return ((await response.json()) as { readonly access_token: string }).access_token
}

describe('the package of the typed client', { concurrency: 4 }, () => {
  const resources = new AsyncDisposableStack()
  let program = ''
  let platform: ServedPlatform
  let token = ''

  before(async () => {
    const [built, installed, data] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()].map(
      (each) => resources.use(each).path,
    ) as [string, string, string]
    program = installed
    writeFileSync(join(program, 'package.json'), '{ "private": true, "type": "module" }')
    const serving = servePlatform({ dataDir: data })
    const tarball = await buildClient(built)
    await run('npm', [...INSTALL, tarball], { cwd: program })
    platform = resources.use(await serving)
    token = await loginAt(platform)
  })
  after(() => resources.disposeAsync())

  test('has no dependency, and the version of the platform', () => {
    const installed = JSON.parse(
      readFileSync(join(program, 'node_modules/backend-platform-client/package.json'), 'utf8'),
    ) as Record<string, unknown>
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    assert.equal(installed['version'], version)
    assert.equal(installed['dependencies'], undefined)
  })

  test('has no module of Node.js in the part for browsers', () => {
    const directory = join(program, 'node_modules/backend-platform-client/dist')
    const main = readFileSync(join(directory, 'index.js'), 'utf8')
    const imported = [...main.matchAll(/from "\.\/(.+)"/g)].map(([, file = '']) =>
      readFileSync(join(directory, file), 'utf8'),
    )
    for (const text of [main, ...imported]) assert.doesNotMatch(text, /"node:|\bprocess\.|\bBuffer\b/)
  })

  test('shows each of its examples in the README', () => {
    const files = globSync('examples/*.js', { cwd: CLIENT }).map(read)
    assert.deepEqual(EXAMPLES.map(({ code }) => code).sort(), files.sort())
  })

  EXAMPLES.forEach(({ code, output }, index) => {
    test(`does what the README says: ${code.split('\n')[0]}`, async () => {
      const file = `example-${index}.js`
      writeFileSync(join(program, file), code)
      const env = { PLATFORM_URL: platform.url, PLATFORM_GATEWAY: platform.gatewayUrl, PLATFORM_TOKEN: token }
      const { stdout } = await run(bareNode(), [file], { cwd: program, env })
      assert.match(plain(stdout.trimEnd()), patternOf(output))
    })
  })

  test('has declarations with which the examples pass the type check', async () => {
    const typed = join(program, 'typed')
    mkdirSync(typed)
    EXAMPLES.forEach(({ code }, index) => writeFileSync(join(typed, `example-${index}.js`), code))
    writeFileSync(join(typed, 'misuse.ts'), MISUSE)
    writeFileSync(join(typed, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }))
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', typed]).catch(
      (error: { readonly stdout: string }) => assert.fail(error.stdout),
    )
  })
})
