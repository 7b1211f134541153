import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { consoleDirectory, fingerprint, STAMP } from './console-build.mjs'

test('the set-up has built the web pages from what is here', () => {
  assert.equal(readFileSync(join(consoleDirectory, STAMP), 'utf8'), fingerprint())
})
