import assert from 'node:assert/strict'
import { test } from 'node:test'
import { staysBelowPrefix } from './request.ts'

const SLASHES = ['/', '\\', '%2f', '%2F', '%5c', '%5C', '%252f', '%255c', '//', '/\\']
const PARENTS = ['..', '%2e%2e', '%2E%2E', '.%2e', '%2e.', '%252e%252e']
const ENDS = ['', '/', '\\', '%2f', '%5C', ';', ';a=b/', '%3b', '%00', '?', '?a=b', '#', '%23', '/b', '\\b']

test('no spelling of a parent segment stays below the prefix', () => {
  for (const before of ['', '/a', '/a/./b'])
    for (const slash of SLASHES)
      for (const parent of PARENTS)
        for (const end of ENDS) {
          const path = `/x${before}${slash}${parent}${end}`
          assert.equal(staysBelowPrefix(path), false, path)
          assert.equal(staysBelowPrefix(`/${parent}${end}`), false, `/${parent}${end}`)
        }
})

test('a path that could be read as the name of a host does not stay below the prefix', () => {
  for (const path of ['//host/a', '/\\host/a', '/%2fhost', '/%5chost', '/%252fhost', '///host'])
    assert.equal(staysBelowPrefix(path), false, path)
})

test('other paths stay below the prefix', () => {
  for (const path of [
    '/',
    '/orders',
    '/orders/',
    '/orders//1',
    '/a..b',
    '/..a',
    '/a..',
    '/...',
    '/a/.../b',
    '/%2e%2ea',
    '/orders/1.5..2',
    '/orders?path=/../x',
    '/orders?next=//host',
    '/./a',
    '/%20%25',
  ])
    assert.equal(staysBelowPrefix(path), true, path)
})
