import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './build-step.mjs'
import { installedPackages, root } from './runtime.mjs'
import { SetupError } from './setup-error.mjs'
import { withSetupLock } from './setup-lock.mjs'

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
  const { code, output } = await run('npm', NPM_CI, { ...process.env, PATH: pathWithoutBin() })
  if (code !== 0) throw new SetupError(`npm ci failed with exit code ${code}; it printed:\n${output}`)
  if (!isInstalled()) {
    throw new SetupError(
      'node_modules differs from package-lock.json after npm ci; run "npm install" and commit package-lock.json',
    )
  }
  console.error(`setup: dependencies installed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
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
  const locked = readPackages(join(root, 'package-lock.json'))
  if (!locked)
    throw new SetupError('package-lock.json is missing or unreadable; restore it from version control')
  return isInstallationOf(locked, readPackages(installedPackages))
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
    return JSON.parse(readFileSync(path, 'utf8')).packages
  } catch {
    return undefined
  }
}
