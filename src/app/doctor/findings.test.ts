import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { documentPath } from './findings.ts'

const ROOT = join(import.meta.dirname, '../../..')

test('an installed document is named with its whole path, any other one as in a checkout', () => {
  const path = 'docs/guide/operating.md'
  assert.equal(documentPath(path, ROOT), join(ROOT, path))
  assert.equal(documentPath(path, '/nowhere'), path)
})
