import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../test/support/platform.ts'
import { scopeOf } from '../test/support/scope.ts'
import { repeatedNames } from './check-names.ts'

test('a name that two modules of a program export is reported, with both files', (t) => {
  const root = scopeOf(t).use(temporaryDirectory()).path
  const modules = {
    'src/a/one.ts':
      'export function open(path: string): void\nexport function open(path: URL): void\nexport type Kept = 1',
    'src/b/two.ts': 'export const open = 1\nconst Kept = 2\nexport { Kept }',
    'src/b/two.test.ts': 'export const open = 1',
    'programs/x/three.ts':
      "export class open {}\nexport async function each() {}\nexport { each } from './each.ts'",
    'programs/y/four.ts': 'export interface open {}',
    'console/page.tsx': 'export const open = 1',
  }
  for (const [file, text] of Object.entries(modules)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  assert.deepEqual(repeatedNames(root), ['open: src/a/one.ts, src/b/two.ts'])
})
