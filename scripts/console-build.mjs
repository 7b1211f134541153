import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { SetupError } from './setup-error.mjs'
import { withSetupLock } from './setup-lock.mjs'
import { root } from './setup.mjs'

/** What the console is built from: its sources, the way of building, and the versions of what is built in. */
const SOURCES = ['console', 'scripts/build-console.ts', 'package-lock.json']

/** Where the builds of the pages are. */
export const consoleDirectory = join(root, 'dist/console')

/** What the build was made of; written last, so that a build that was cut short has none. */
export const STAMP = 'built-from.txt'

/**
 * Builds the pages for the browser unless they are built from what is here now. Safe to run in several processes at
 * once.
 *
 * @param {string} runtime the Node.js that builds
 */
export async function ensureConsole(runtime) {
  if (isFresh()) return
  await withSetupLock(`${root}#console`, async () => {
    // Another process may have done it while this one waited for the lock.
    if (!isFresh()) await build(runtime)
  })
}

/** @param {string} runtime */
async function build(runtime) {
  const startedAt = Date.now()
  console.error('setup: building the web pages …')
  const { code, output } = await run(runtime, [join(root, 'scripts/build-console.ts')])
  if (code !== 0) throw new SetupError(`the web pages could not be built; the build printed:\n${output}`)
  console.error(`setup: web pages built in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
}

/**
 * @param {string} program
 * @param {string[]} args
 * @returns {Promise<{ code: number | null, output: string }>}
 */
function run(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => reject(new SetupError(`cannot run ${program}: ${error.message}`)))
    child.on('close', (code) => resolve({ code, output }))
  })
}

function isFresh() {
  try {
    return readFileSync(join(consoleDirectory, STAMP), 'utf8') === fingerprint()
  } catch {
    return false
  }
}

/** One line that is another one when a source is. By content: the times of files differ between checkouts. */
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
