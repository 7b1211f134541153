import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './runtime.mjs'

/** What the pages are built from: their sources, the build script, and the versions of the packages. */
const SOURCES = [
  'console',
  'clients/typescript/src',
  'scripts/build-console.ts',
  'scripts/page-weight.ts',
  'package-lock.json',
]

/** Where the built pages are. */
export const consoleDirectory = join(root, 'dist/console')

/** The fingerprint of the sources at the time of the build. Written last, so an interrupted build has none. */
export const STAMP = 'built-from.txt'

/** @type {import('./build-step.mjs').BuildStep} */
export const CONSOLE = {
  what: 'web pages',
  script: 'scripts/build-console.ts',
  isDue: () => readStamp() !== fingerprint(),
}

function readStamp() {
  try {
    return readFileSync(join(consoleDirectory, STAMP), 'utf8')
  } catch {
    return undefined
  }
}

/** Changes whenever the content of a source changes. Times of files are not used: they differ between checkouts. */
export function fingerprint() {
  const hash = createHash('sha256')
  for (const file of SOURCES.flatMap(filesBelow)) {
    const content = readFileSync(join(root, file))
    hash.update(`${file}\0${content.length}\0`).update(content)
  }
  return `${hash.digest('hex')}\n`
}

/**
 * @param {string} path
 * @returns {string[]}
 */
function filesBelow(path) {
  if (/[.][a-z]+$/.test(path)) return [path]
  const entries = readdirSync(join(root, path), { withFileTypes: true })
  return entries
    .filter(({ name }) => !name.endsWith('.test.ts'))
    .flatMap((entry) => {
      const inner = `${path}/${entry.name}`
      return entry.isDirectory() ? filesBelow(inner) : [inner]
    })
    .sort()
}
