import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { consoleDirectory, fingerprint, STAMP } from './console-build.mjs'

test('set-up has built the web pages from the current sources', () => {
  assert.equal(readFileSync(join(consoleDirectory, STAMP), 'utf8'), fingerprint())
})

test('every user of the host may read the web pages', () => {
  assert.equal(statSync(consoleDirectory).mode & 0o777, 0o755)
})
