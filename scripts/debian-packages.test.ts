import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { ensureDebianPackages } from './debian-packages.mjs'

const PATH = process.env['PATH']

// Servers are found outside of PATH, and there is no apt-get that could install the others.
beforeEach(() => {
  process.env['PATH'] = ''
})
afterEach(() => {
  process.env['PATH'] = PATH
})

test('the tests need a browser', () => {
  assert.throws(
    () => ensureDebianPackages('test'),
    /npm run test needs .*chromium-headless-shell \(the web pages\)/,
  )
})

test('the cluster needs only its servers', () => {
  assert.throws(
    () => ensureDebianPackages('cluster'),
    /npm run cluster needs patroni \([^)]+\), etcd-server \([^)]+\);/,
  )
})

test('the server needs no package', () => {
  ensureDebianPackages('start')
})
