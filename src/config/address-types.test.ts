import assert from 'node:assert/strict'
import { test } from 'node:test'
import { httpUrl } from './address-types.ts'

test('an address has no slash at its end, so that a path can follow', () => {
  for (const text of ['http://host:9990', 'http://host:9990/', 'http://host:9990//'])
    assert.equal(httpUrl.parse(text, '/'), 'http://host:9990')
  assert.equal(httpUrl.parse('http://host/prefix/', '/'), 'http://host/prefix')
})
