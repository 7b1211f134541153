import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SetupError } from './setup-error.mjs'
import { withSetupLock } from './setup-lock.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

const MINIMUM_NODE = /** @type {const} */ ([26, 10])

// Development packages are included by name because `NODE_ENV=production` would leave them out, optional packages
// because the pinned runtime is one of them.
const NPM_CI = ['ci', '--include=dev', '--include=optional', '--no-fund', '--no-audit', '--loglevel=error']

/** Installs what package-lock.json says, unless it is installed already. Safe to run in several processes at once. */
export async function ensureDependencies() {
  if (isInstalled()) return
  await withSetupLock(root, async () => {
    // Another process may have installed it while this one waited for the lock.
    if (!isInstalled()) await install()
  })
}

async function install() {
  const startedAt = Date.now()
  console.error('setup: installing dependencies …')
  const { code, output } = await runNpmCi()
  if (code !== 0) throw new SetupError(`npm ci failed with exit code ${code}; it printed:\n${output}`)
  if (!isInstalled()) {
    throw new SetupError(
      'node_modules differs from package-lock.json after npm ci; run "npm install" and commit package-lock.json',
    )
  }
  console.error(`setup: dependencies installed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
}

/** @returns {Promise<{ code: number | null, output: string }>} */
function runNpmCi() {
  return new Promise((resolve, reject) => {
    const npm = spawn('npm', NPM_CI, {
      cwd: root,
      env: { ...process.env, PATH: pathWithoutBin() },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk) => (output += chunk))
    npm.on('error', (error) => reject(new SetupError(`cannot run npm: ${error.message}`)))
    npm.on('close', (code) => resolve({ code, output }))
  })
}

/** npm must not run on the `node` in node_modules/.bin, which it removes first. */
function pathWithoutBin() {
  const bin = join(root, 'node_modules', '.bin')
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((directory) => directory !== bin)
    .join(delimiter)
}

function isInstalled() {
  const locked = readPackages('package-lock.json')
  if (!locked)
    throw new SetupError('package-lock.json is missing or unreadable; restore it from version control')
  return isInstallationOf(locked, readPackages(join('node_modules', '.package-lock.json')))
}

/**
 * Whether node_modules/.package-lock.json, which npm writes at the end of an installation, lists the packages of the
 * lock file. Optional packages may be absent: most of them are for other platforms. An interrupted installation has no
 * such file.
 *
 * @param {Record<string, LockEntry>} locked
 * @param {Record<string, LockEntry> | undefined} installed
 */
export function isInstallationOf(locked, installed) {
  if (!installed) return false
  // The entry without a path is the project itself.
  const wanted = Object.entries(locked).filter(([path]) => path !== '')
  return (
    wanted.every(([path, entry]) => isSame(entry, installed[path])) &&
    Object.keys(installed).every((path) => path in locked)
  )
}

/** @typedef {{ version?: string, integrity?: string, optional?: boolean }} LockEntry */

/**
 * @param {LockEntry} locked
 * @param {LockEntry | undefined} installed
 */
function isSame(locked, installed) {
  if (!installed) return locked.optional === true
  return locked.version === installed.version && locked.integrity === installed.integrity
}

/**
 * @param {string} path
 * @returns {Record<string, LockEntry> | undefined}
 */
function readPackages(path) {
  try {
    return JSON.parse(readFileSync(join(root, path), 'utf8')).packages
  } catch {
    return undefined
  }
}

/** The pinned runtime; where its package doesn't exist for the platform, the host's own when it is new enough. */
export function findRuntime() {
  const pinned = join(root, 'node_modules', '.bin', 'node')
  if (existsSync(pinned)) return pinned
  if (isNewEnough(process.versions.node)) return process.execPath
  throw new SetupError(
    `there is no pinned runtime for ${process.platform}-${process.arch}; install Node.js ${MINIMUM_NODE.join('.')} ` +
      `or later (found ${process.versions.node})`,
  )
}

/** @param {string} version */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > MINIMUM_NODE[0] || (major === MINIMUM_NODE[0] && minor >= MINIMUM_NODE[1])
}
