import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SetupError } from './setup-error.mjs'

/** The directory of the checkout. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** npm's list of what is in node_modules, which it writes at the end of each installation. */
export const installedPackages = join(root, 'node_modules', '.package-lock.json')

const MINIMUM_NODE = /** @type {const} */ ([26, 10])

/** The pinned Node.js; on a platform that its package doesn't support, the host's own if it is new enough. */
export function findRuntime() {
  const pinned = join(root, 'node_modules', '.bin', 'node')
  if (existsSync(pinned)) return pinned
  if (isNewEnough(process.versions.node)) return process.execPath
  throw new SetupError(
    `there is no pinned Node.js for ${process.platform}-${process.arch}; run "npm ci", which installs it on Linux (x64, arm64), ` +
      `or install Node.js ${MINIMUM_NODE.join('.')} or later (this is ${process.versions.node})`,
  )
}

/** @param {string} version */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > MINIMUM_NODE[0] || (major === MINIMUM_NODE[0] && minor >= MINIMUM_NODE[1])
}
