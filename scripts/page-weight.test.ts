import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { pageWeight, type BuiltFile } from './page-weight.ts'

const file = (fileName: string, bytes: number, more: Partial<BuiltFile> = {}): BuiltFile => ({
  fileName,
  content: randomBytes(bytes),
  isEntry: false,
  imports: [],
  dynamicImports: [],
  ...more,
})

test('the weight of a page has the entry, what it imports, the styles, and the heaviest parts that are loaded later', () => {
  const files = [
    file('index.js', 10_000, { isEntry: true, imports: ['shared.js'], dynamicImports: ['a.js', 'b.js'] }),
    file('shared.js', 20_000, { imports: ['index.js'] }),
    file('a.js', 1_000, { imports: ['shared.js'] }),
    file('b.js', 5_000, { imports: ['c.js'], dynamicImports: ['a.js', 'd.js'] }),
    file('c.js', 7_000),
    file('d.js', 2_000),
    file('index.css', 3_000),
    file('icon.svg', 90_000),
  ]
  // Random bytes cannot be compressed; each file has a header.
  assert.ok(Math.abs(pageWeight(files) - 47_000) < 500, `${pageWeight(files)}`)
})
