import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
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

/** In the order of the README: one example may read what another one has written. */
const EXAMPLES = [...read('README.md').matchAll(/^```js\n(.*?)^```\n\n```text\n(.*?)\n```$/gms)].map(
  ([, code = '', output = '']) => ({ code, output }),
)

function read(path: string): string {
  return readFileSync(join(CLIENT, path), 'utf8')
}

async function loginAt({ url, stderr }: ServedPlatform): Promise<string> {
  const body = JSON.stringify({ username: 'admin', password: firstPassword(stderr()) })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/auth/login`, { method: 'POST', headers, body })
  return ((await response.json()) as { readonly access_token: string }).access_token
}

describe('the package of the typed client', () => {
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

  for (const { code, output } of EXAMPLES) {
    test(`does what the README says: ${code.split('\n')[0]}`, async () => {
      writeFileSync(join(program, 'example.js'), code)
      const env = { PLATFORM_URL: platform.url, PLATFORM_GATEWAY: platform.gatewayUrl, PLATFORM_TOKEN: token }
      const { stdout } = await run(bareNode(), ['example.js'], { cwd: program, env })
      assert.match(plain(stdout.trimEnd()), patternOf(output))
    })
  }

  test('has declarations with which the examples pass the type check', async () => {
    const compiler = {
      module: 'nodenext',
      strict: true,
      allowJs: true,
      checkJs: true,
      noEmit: true,
      types: ['node'],
    }
    const compilerOptions = { ...compiler, typeRoots: [join(ROOT, 'node_modules/@types')] }
    EXAMPLES.forEach(({ code }, index) => writeFileSync(join(program, `shown-${index}.js`), code))
    const wrong =
      "import { createClient } from 'backend-platform-client'\n// @ts-expect-error There is no such status.\n"
    const call = "void createClient({ url: '' }).call('listOrders', { query: { status: 'lost' } })\n"
    writeFileSync(join(program, 'wrong.ts'), wrong + call)
    writeFileSync(
      join(program, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['*.js', '*.ts'] }),
    )
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', program]).catch(
      (error: { readonly stdout: string }) => assert.fail(error.stdout),
    )
  })
})
