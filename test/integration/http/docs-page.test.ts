import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ERROR_CODES } from '../../../src/app/domains.ts'
import { openApi, openClient } from './client.ts'
import type { Answer } from './traffic.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())
const client = openClient(api.platform.url)
after(() => client[Symbol.dispose]())

const get = (path: string, headers: Record<string, string> = {}) =>
  client.send({ method: 'GET', path, headers })

/** The files that a browser loads for the page. */
function assetsOf(page: string): string[] {
  return [...page.matchAll(/<(?:link|script|img|iframe)\b[^>]*?\b(?:href|src)="([^"]*)"/g)].map(
    ([, path = '']) => path,
  )
}

/** The content security policy of a response: directive → sources. */
function policyOf({ headers }: Answer): Record<string, string[]> {
  const directives = String(headers['content-security-policy']).split(';')
  return Object.fromEntries(
    directives
      .map((directive) => directive.trim().split(/\s+/))
      .filter(([name]) => name)
      .map(([name = '', ...sources]) => [name, sources]),
  )
}

test('/ leads browsers to the console, and programs to the document', async () => {
  for (const [accept, location] of [
    ['text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', '/console/'],
    ['application/json', '/openapi.json'],
    ['*/*', '/openapi.json'],
  ] as const) {
    const answer = await get('/', { accept })
    assert.deepEqual(
      [answer.status, answer.headers['location'], answer.headers['vary']],
      [302, location, 'accept'],
    )
  }
})

for (const path of ['/docs', '/docs/']) {
  describe(`the API page at ${path}`, () => {
    test('is public HTML for screens of any size', async () => {
      const answer = await get(path)
      assert.equal(answer.status, 200)
      assert.match(String(answer.headers['content-type']), /^text\/html/)
      assert.match(answer.text, /<title>Backend platform<\/title>/)
      assert.match(answer.text, /<meta name="viewport" content="width=device-width/)
    })

    test('loads files of this server only', async () => {
      const assets = assetsOf((await get(path)).text)
      assert.ok(assets.length >= 3)
      for (const asset of assets) {
        assert.match(asset, /^\/docs\/assets\//)
        const answer = await get(asset)
        assert.equal(answer.status, 200, asset)
        assert.match(String(answer.headers['content-type']), /^(text\/css|text\/javascript|image\/svg)/)
        assert.equal(answer.headers['x-content-type-options'], 'nosniff')
        assert.match(String(answer.headers['cache-control']), /immutable/)
      }
    })

    test('has no inline scripts and styles', async () => {
      const { text } = await get(path)
      assert.doesNotMatch(text, /<script(?![^>]*\bsrc=)[^>]*>|\son[a-z]+=|javascript:|<style|\sstyle=/i)
    })
  })
}

test('page, scripts and styles have less than 60 KB together', async () => {
  const { text } = await get('/docs')
  let length = text.length
  for (const asset of assetsOf(text)) length += (await get(asset)).text.length
  assert.ok(length < 60_000, String(length))
})

test('the style sheets load no other files', async () => {
  const sheets = assetsOf((await get('/docs')).text).filter((path) => path.endsWith('.css'))
  assert.notEqual(sheets.length, 0)
  for (const path of sheets) assert.doesNotMatch((await get(path)).text, /@import|url\(/)
})

describe('the content security policy of the API page', () => {
  test('allows this server only', async () => {
    const policy = policyOf(await get('/docs'))
    assert.deepEqual(policy['default-src'], ["'none'"])
    for (const [directive, sources] of Object.entries(policy)) {
      for (const source of sources) assert.ok(["'self'", "'none'"].includes(source), `${directive} ${source}`)
    }
  })

  test('forbids frames, base addresses and forms to other servers', async () => {
    const answer = await get('/docs')
    const policy = policyOf(answer)
    assert.deepEqual(
      [policy['frame-ancestors'], policy['base-uri'], policy['form-action']],
      [["'none'"], ["'none'"], ["'none'"]],
    )
    assert.equal(answer.headers['referrer-policy'], 'no-referrer')
  })

  test('does not upgrade to HTTPS, which is the task of a proxy', async () => {
    assert.ok(!Object.hasOwn(policyOf(await get('/docs')), 'upgrade-insecure-requests'))
  })
})

test('no other file is found below the API page', async () => {
  const paths = [
    '..%2f..%2fpackage.json',
    '%2e%2e/package.json',
    '..%5c..%5cpackage.json',
    '%00',
    'nothing.js',
    '.',
    '%2e',
  ]
  for (const path of paths) {
    const answer = await get(`/docs/assets/${path}`)
    assert.ok(answer.status >= 400 && answer.status < 500, `${path} → ${answer.status}`)
    assert.match((answer.json() as { code: string }).code, /^(route_not_found|validation_failed)$/, path)
  }
})

test('the page of the errors has every code, and each is where the document and the answers lead', async () => {
  const { text, headers } = await get('/docs/errors')
  assert.match(headers['content-type'] ?? '', /^text\/html/)
  const { components } = (await get('/openapi.json')).json() as {
    components: { 'x-errors': Record<string, { href: string }> }
  }
  const catalogue = components['x-errors']
  assert.deepEqual(Object.keys(catalogue), Object.keys(ERROR_CODES).sort())
  for (const [code, { href }] of Object.entries(catalogue)) {
    assert.equal(href, `/docs/errors#${code}`)
    assert.equal(text.split(`id="${code}"`).length, 2, code)
  }
})
