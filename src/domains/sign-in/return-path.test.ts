import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isReturnPath } from './return-path.ts'

const GOOD = [
  '/',
  '/console/',
  '/console/orders?status=pending&limit=10',
  '/console/orders/o-1:2',
  '/docs',
  '/.well-known/x',
  '/a.b/c..d',
  '/console/?next=%2Forders%3Fa%3Db',
  '/console/?q=a//b/../c',
  '/caf%C3%A9',
  '/@user',
  `/${'a'.repeat(1_023)}`,
]

const HOSTILE = [
  '',
  ' ',
  'console',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '\\/evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/\r\nlocation: https://evil.example',
  '/%09/evil.example',
  '/%0a/evil.example',
  '/%0d%0aset-cookie:a=b',
  '/a?b=%0d%0ac',
  '/%00',
  '/%2f/evil.example',
  '/%2Fevil.example',
  '/%5cevil.example',
  '/%255cevil.example',
  '/%25252fevil.example',
  '/%2e%2e//evil.example',
  '/..//evil.example',
  '/.//evil.example',
  '/a/..//evil.example',
  '/a/../..//evil.example',
  '/..;/evil.example',
  '/a//b',
  'https:evil.example',
  'https://evil.example/',
  'http:///evil.example',
  'javascript:alert(1)',
  'data:text/html,a',
  '//evil.example@127.0.0.1/',
  '/\u0000',
  '/\u007f',
  '/\u2028',
  '/\u3000/evil.example',
  '\uff0f\uff0fevil.example',
  '/\uff0fevil.example',
  '/é',
  '/a#b',
  '/a?b#c',
  '/%',
  '/%zz',
  '/%e',
  '/a b',
  '/<script>',
  '/"',
  ' /console/',
  '/console/ ',
  `/${'a'.repeat(1_024)}`,
]

for (const path of GOOD) {
  test(`${path.slice(0, 60)} is a path to come back to`, () => assert.equal(isReturnPath(path), true))
}

for (const path of HOSTILE) {
  test(`${JSON.stringify(path.slice(0, 60))} is not a path to come back to`, () =>
    assert.equal(isReturnPath(path), false))
}

test('whatever is accepted stays on its host and keeps its text', () => {
  const piece = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    '%2f',
    '%5c',
    '%09',
    '%25',
    ':',
    '@',
    '?',
    '#',
    'a',
    '\t',
    '\n',
    ';',
  )
  const path = fc.array(fc.oneof(piece, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 12 })
  fc.assert(
    fc.property(path, (pieces) => {
      const text = `/${pieces.join('')}`
      if (!isReturnPath(text)) return
      const { origin, pathname, search } = new URL(text, 'https://platform.example/auth/oauth/callback')
      // A URL has the quote in its query encoded, and no empty query.
      const same = (pathname + search).replaceAll('%27', "'")
      assert.deepEqual(
        [origin, same],
        ['https://platform.example', text.replaceAll('%27', "'").replace(/^([^?]*)\?$/, '$1')],
      )
    }),
    { numRuns: 1_000 },
  )
})
