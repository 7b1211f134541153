import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BuiltPage, consoleRoutes } from './pages.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { noMetrics } from '../../../kernel/metrics.ts'
import { createHttpServer } from '../server.ts'
import { temporaryDirectory } from '../../../../test/support/platform.ts'
import { scopeOf } from '../../../../test/support/scope.ts'
import { startTunnelsDouble } from '../../../../test/support/tunnels-double.ts'

test('every path of the console has the same page, and only its assets are files', async () => {
  const server = await createHttpServer({
    routes: [],
    pages: consoleRoutes({ hasProvider: true }),
    identify: () => undefined,
    logger: silentLogger,
    metrics: noMetrics,
    version: '0.0.0',
    readOnly: false,
    rateLimitPerMinute: 0,
  })
  await using closing = { [Symbol.asyncDispose]: () => server.close() }
  const url = `http://${await server.listen({ host: '127.0.0.1', port: 0 })}`
  const redirect = await fetch(`${url}/console`, { redirect: 'manual' })
  assert.deepEqual([redirect.status, redirect.headers.get('location')], [302, '/console/'])
  const page = await fetch(`${url}/console/`)
  const text = await page.text()
  assert.match(text, /<meta name="sign-in-provider" content="true" \/>/)
  assert.match(page.headers.get('content-security-policy') ?? '', /script-src 'self'/)
  assert.doesNotMatch(page.headers.get('content-security-policy') ?? '', /unsafe/)
  assert.equal(await (await fetch(`${url}/console/orders/a%2Fb?status=paid`)).text(), text)
  for (const path of ['orders/%E0%A4%A', '%', 'orders/%2', 'orders/%ff?status=paid']) {
    const answer = await fetch(`${url}/console/${path}`)
    assert.deepEqual([answer.status, await answer.text()], [200, text], path)
  }
  for (const path of ['/orders/%E0%A4%A', '/consoles/%'])
    assert.equal((await fetch(`${url}${path}`)).status, 400, path)
  const [, script = ''] = /src="(\/console\/assets\/[^"]+)"/.exec(text) ?? []
  const asset = await fetch(`${url}${script}`)
  assert.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  assert.deepEqual(
    [asset.headers.get('content-encoding'), asset.headers.get('vary')],
    ['gzip', 'accept-encoding'],
  )
  const withEncoding = (encoding: string) =>
    fetch(`${url}${script}`, { headers: { 'accept-encoding': encoding } })
  const plain = await withEncoding('br, gzip;q=0')
  assert.equal(plain.headers.get('content-encoding'), null)
  assert.equal(await plain.text(), await asset.text())
  assert.equal((await withEncoding('identity, GZIP;q=0.5')).headers.get('content-encoding'), 'gzip')
  assert.equal((await fetch(`${url}/console/assets/unknown.js`)).status, 404)
  for (const path of ['/console/', script, '/openapi.json']) {
    for (const encoding of ['gzip', 'identity']) {
      const headers = { 'accept-encoding': encoding }
      const tag = (await fetch(`${url}${path}`, { headers })).headers.get('etag') ?? ''
      const known = await fetch(`${url}${path}`, {
        headers: { ...headers, 'if-none-match': `W/"x", ${tag}` },
      })
      assert.deepEqual([known.status, known.headers.get('etag'), await known.text()], [304, tag, ''], path)
    }
  }
  assert.ok(closing)
})

test('a page that is not built says how to build it', () => {
  const { status, body } = new BuiltPage('console', { directory: '/nonexistent' }).page()
  assert.equal(status, 503)
  assert.match(String(body), /node scripts\/build-console\.ts/)
})

const PAGE = '<!doctype html><script type="module" src="/tunnels/assets/index-abc.js"></script>'

function build(directory: string): void {
  mkdirSync(join(directory, 'assets'), { recursive: true })
  writeFileSync(join(directory, 'index.html'), PAGE)
  writeFileSync(join(directory, 'assets/index-abc.js'), 'export {}')
  writeFileSync(join(directory, 'assets/notes.txt'), 'not of a kind that is served')
  writeFileSync(join(directory, 'secret.js'), 'not an asset')
}

async function open(t: TestContext, isBuilt = true) {
  const scope = scopeOf(t)
  const directory = scope.use(temporaryDirectory()).path
  if (isBuilt) build(directory)
  const { url } = scope.use(await startTunnelsDouble(directory))
  return { directory, get: (path: string, init?: RequestInit) => fetch(url + path, init) }
}

test('the page is public, asked for each time, and loads nothing from elsewhere', async (t) => {
  const { get } = await open(t)
  const answer = await get('/tunnels')
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), PAGE)
  assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(answer.headers.get('cache-control'), 'no-cache')
  const policy = String(answer.headers.get('content-security-policy')).split('; ')
  assert.ok(policy.includes("default-src 'none'"))
  assert.ok(policy.includes("frame-ancestors 'none'"))
  for (const directive of policy) assert.match(directive, /^[a-z-]+ '(none|self)'$/)
})

test('assets are kept for ever', async (t) => {
  const { get } = await open(t)
  const answer = await get('/tunnels/assets/index-abc.js')
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), 'export {}')
  assert.equal(answer.headers.get('content-type'), 'text/javascript; charset=utf-8')
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
})

test('HEAD answers as GET does, without the body', async (t) => {
  const { get } = await open(t)
  const answer = await get('/tunnels', { method: 'HEAD' })
  assert.equal(answer.status, 200)
  assert.equal(await answer.text(), '')
})

const ABSENT = [
  'index-old.js',
  'notes.txt',
  '..%2Fsecret.js',
  '%2e%2e%2fsecret.js',
  '__proto__',
  'constructor',
]

for (const file of ABSENT) {
  test(`there is no asset ${file}`, async (t) => {
    const { get } = await open(t)
    const answer = await get(`/tunnels/assets/${file}`)
    assert.equal(answer.status, 404)
    assert.notEqual(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  })
}

test('without a build it says what to do, and serves the page once it is built', async (t) => {
  const { directory, get } = await open(t, false)
  const missing = await get('/tunnels')
  assert.equal(missing.status, 503)
  assert.equal(missing.headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.match(await missing.text(), /node scripts\/build-console\.ts/)
  assert.equal((await get('/tunnels/assets/index-abc.js')).status, 404)
  build(directory)
  assert.equal((await get('/tunnels')).status, 200)
})

test('a build that comes while it runs does not mix with the one that it serves', async (t) => {
  const { directory, get } = await open(t)
  await get('/tunnels')
  writeFileSync(join(directory, 'index.html'), 'another build')
  assert.equal(await (await get('/tunnels')).text(), PAGE)
})
