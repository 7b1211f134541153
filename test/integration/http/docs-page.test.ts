import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { openApi, openClient } from './client.ts'
import type { Answer } from './traffic.ts'

const api = await openApi()
after(() => api[Symbol.asyncDispose]())
const client = openClient(api.platform.url)
after(() => client[Symbol.dispose]())

const get = (path: string) => client.send({ method: 'GET', path, headers: {} })
const ORIGIN = 'http://platform.test'

/** What the page makes a browser load, as the browser finds it. */
function assetsOf(page: string, path: string): URL[] {
  const found = [...page.matchAll(/<(?:link|script|img|iframe)\b[^>]*?\b(?:href|src)="([^"]*)"/g)]
  return found.map(([, address = '']) => new URL(address, ORIGIN + path))
}

/** The policy of an answer: directive → sources. */
function policyOf({ headers }: Answer): Record<string, string[]> {
  const directives = String(headers['content-security-policy']).split(';')
  return Object.fromEntries(
    directives
      .map((directive) => directive.trim().split(/\s+/))
      .filter(([name]) => name)
      .map(([name = '', ...sources]) => [name, sources]),
  )
}

for (const path of ['/docs', '/docs/']) {
  describe(`the page at ${path}`, () => {
    test('is public HTML with the name of the platform', async () => {
      const answer = await get(path)
      assert.equal(answer.status, 200)
      assert.match(String(answer.headers['content-type']), /^text\/html/)
      assert.match(answer.text, /<title>Backend platform<\/title>/)
    })

    test('loads only what is here', async () => {
      const { text } = await get(path)
      const assets = assetsOf(text, path)
      assert.ok(assets.length >= 5, text)
      for (const { origin, pathname } of assets) {
        assert.equal(origin, ORIGIN, pathname)
        const answer = await get(pathname)
        assert.equal(answer.status, 200, pathname)
        assert.match(
          String(answer.headers['content-type']),
          /^(text\/css|application\/javascript|text\/javascript|image\/png)/,
        )
        assert.equal(answer.headers['x-content-type-options'], 'nosniff')
      }
    })

    test('runs no script that stands in it', async () => {
      const { text } = await get(path)
      assert.doesNotMatch(text, /<script(?![^>]*\bsrc=)[^>]*>|\son[a-z]+=|javascript:|<style|\sstyle=/i)
    })
  })
}

test('the style sheets load nothing from elsewhere', async () => {
  for (const { pathname } of assetsOf((await get('/docs')).text, '/docs').filter((each) =>
    each.pathname.endsWith('.css'),
  )) {
    const { text } = await get(pathname)
    assert.doesNotMatch(text, /@import/)
    for (const [, address = ''] of text.matchAll(/url\(\s*["']?([^"')]*)/g))
      assert.match(address, /^(data:|#|%23)/, pathname)
  }
})

test('the page starts with the document of this platform, and asks nobody to judge it', async () => {
  const { text } = await get('/docs/static/swagger-initializer.js')
  assert.match(text, /resolveUrl\('\.\/json'\)/)
  assert.match(text, /validatorUrl: null/)
  assert.doesNotMatch(text.replaceAll(/\/\/ If you get .*$/gm, ''), /https?:\/\//)
  assert.deepEqual((await get('/docs/json')).json(), api.document)
})

describe('the policy of the page', () => {
  test('lets it load and send to this host alone', async () => {
    for (const path of ['/docs', '/docs/static/swagger-ui-bundle.js', '/docs/json']) {
      const policy = policyOf(await get(path))
      assert.deepEqual(policy['default-src'], ["'none'"])
      for (const [directive, sources] of Object.entries(policy)) {
        const allowed = directive === 'img-src' ? ["'self'", 'data:'] : ["'self'", "'none'"]
        for (const source of sources) assert.ok(allowed.includes(source), `${directive} ${source}`)
      }
    }
  })

  test('keeps it out of frames, and its address where it is', async () => {
    const answer = await get('/docs')
    const policy = policyOf(answer)
    assert.deepEqual(
      [policy['frame-ancestors'], policy['base-uri'], policy['form-action']],
      [["'none'"], ["'none'"], ["'none'"]],
    )
    assert.equal(answer.headers['referrer-policy'], 'no-referrer')
  })

  test('does not send a browser to HTTPS, which the platform leaves to whoever stands before it', async () => {
    assert.ok(!Object.hasOwn(policyOf(await get('/docs')), 'upgrade-insecure-requests'))
  })
})

test('nothing but the page is found below it', async () => {
  const outside = [
    '..%2f..%2fpackage.json',
    '%2e%2e/package.json',
    '..%5c..%5cpackage.json',
    '%00',
    'nothing.js',
    '.',
    '%2e',
  ]
  for (const path of outside) {
    const answer = await get(`/docs/static/${path}`)
    assert.ok(answer.status >= 400 && answer.status < 500, `${path} → ${answer.status}`)
    assert.match((answer.json() as { code: string }).code, /^(route_not_found|validation_failed)$/, path)
  }
})
