import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isRedirectUri, withQuery, withRealPort } from './addresses.ts'

test('parameters are appended to the query of the URL', () => {
  const parameters = [
    ['code', 'c'],
    ['none', undefined],
    ['state', 'a&b=c d/ü'],
  ] as const
  const added = 'code=c&state=a%26b%3Dc%20d%2F%C3%BC'
  assert.equal(withQuery('http://a/b', parameters), `http://a/b?${added}`)
  assert.equal(withQuery('http://a/b?', parameters), `http://a/b?${added}`)
  assert.equal(withQuery('http://a/b?x=1', parameters), `http://a/b?x=1&${added}`)
  assert.equal(withQuery('http://a/b?x=1&', parameters), `http://a/b?x=1&${added}`)
})

test('port 0 is replaced with the real port, any other port stays', () => {
  assert.equal(withRealPort('http://127.0.0.1:0', 81), 'http://127.0.0.1:81')
  assert.equal(withRealPort('http://[::1]:0/a:0/', 81), 'http://[::1]:81/a:0/')
  assert.equal(withRealPort('http://127.0.0.1:80', 81), 'http://127.0.0.1:80')
  assert.equal(withRealPort('http://127.0.0.1', 81), 'http://127.0.0.1')
})

test('every accepted redirect URI can be sent in a header, has a host and no fragment', () => {
  const text = fc.oneof(
    fc.webUrl({ withFragments: true }),
    fc.string({ unit: 'binary' }).map((tail) => `http://a${tail}`),
    fc.string({ unit: 'binary', maxLength: 3 }).map((start) => `http://${start}foo/cb`),
  )
  fc.assert(
    fc.property(text, (address) => {
      fc.pre(isRedirectUri(address))
      assert.match(address, /^[!-~]+$/)
      assert.notEqual(new URL(address).host, '')
      assert.equal(new URL(address).hash, '')
    }),
  )
})
