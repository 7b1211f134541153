import assert from 'node:assert/strict'
import { test } from 'node:test'
import { urlBase } from './url-base.ts'

test('an address loses the slashes at its end, and no others', () => {
  for (const url of ['http://host:9990', 'http://host:9990/', 'http://host:9990//'])
    assert.equal(urlBase(url), 'http://host:9990')
  assert.equal(urlBase('http://host/prefix/'), 'http://host/prefix')
})
