import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from './runtime.mjs'

interface LockedPackage {
  readonly version?: string
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const PACKAGES = readLockFile()

function readLockFile(): Readonly<Record<string, LockedPackage>> {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8')
  return (JSON.parse(text) as { packages: Record<string, LockedPackage> }).packages
}

/** Resolves a name inside the package at `path` as Node.js does: the nearest package up the tree. */
function resolve(name: string, path: string): LockedPackage | undefined {
  const nearest = PACKAGES[`${path === '' ? '' : `${path}/`}node_modules/${name}`]
  if (nearest || path === '') return nearest
  return resolve(name, path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))))
}

function isLocked(name: string, wanted: string, path: string): boolean {
  const locked = resolve(name, path)
  const isExact = /^\d/.test(wanted)
  return locked !== undefined && (!isExact || locked.version === wanted)
}

// `npm ci` refuses a lock file in which one is missing.
test('the lock file names the optional packages of every platform', () => {
  const missing = Object.entries(PACKAGES).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name, wanted]) => !isLocked(name, wanted, path))
      .map(([name, wanted]) => `${name}@${wanted}, optional for ${path}`),
  )
  assert.deepEqual(missing, [])
})

test('the lock file names no registry', () => {
  const resolved = Object.entries(PACKAGES).filter(([, locked]) => locked.resolved !== undefined)
  assert.deepEqual(resolved, [])
})
