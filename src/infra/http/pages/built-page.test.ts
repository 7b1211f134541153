import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BuiltPage, consoleRoutes } from './built-page.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { noMetrics } from '../../../kernel/metrics.ts'
import { createHttpServer } from '../server.ts'

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
