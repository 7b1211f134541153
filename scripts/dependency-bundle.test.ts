import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { bundleDirectory, bundledFile, SPECIFIERS } from './dependency-bundle.mjs'
import { root } from './runtime.mjs'

const SOURCES = globSync('{bin,src,programs}/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] })
// Statements that import nothing but types are left out: none of them is there when the program runs.
const IMPORTS = [
  /^(?:import|export) (?!type )[^'"]*?\bfrom '([^'.][^']*)'/gm,
  /^import '([^'.][^']*)'/gm,
  /\bimport\('([^'.][^']*)'\)/g,
]

function packagesImportedBy(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const specifiers = IMPORTS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name))
  return specifiers.filter((specifier) => !specifier.startsWith('node:'))
}

// What is not bundled is loaded from its package, which may bring a second copy of something that is bundled.
test('the bundle has what the program imports from npm packages', () => {
  const imported = new Set(SOURCES.flatMap(packagesImportedBy))
  const bundled = new Set(SPECIFIERS)
  assert.deepEqual(
    { missing: [...imported.difference(bundled)], unused: [...bundled.difference(imported)] },
    { missing: [], unused: [] },
    'correct SPECIFIERS in scripts/dependency-bundle.mjs',
  )
})

for (const specifier of SPECIFIERS) {
  test(`the bundle exports what ${specifier} exports`, async () => {
    assert.deepEqual(await namesOf(bundledFile(bundleDirectory(), specifier)), await namesOf(specifier))
  })
}

// Each of them loads the client of undici.
const WEB_SOCKET = ['CloseEvent', 'MessageEvent', 'WebSocket']

test('the substitute of node:http exports what node:http exports, without the WebSocket', async () => {
  const names = Object.keys(http).filter((name) => !WEB_SOCKET.includes(name) && !name.startsWith('_'))
  assert.deepEqual(await namesOf('./node-http.mjs'), [...names, 'default'].sort())
})

/** Node.js adds `module.exports` to what a CommonJS package exports. */
async function namesOf(specifier: string): Promise<string[]> {
  const names = Object.keys((await import(specifier)) as object)
  return names.filter((name) => name !== 'module.exports').sort()
}
