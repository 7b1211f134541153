import { spawnSync } from 'node:child_process'
import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { SetupError } from './setup-error.mjs'

/** Not in the PATH of ordinary users. */
const SYSTEM = ['/usr/sbin', '/sbin']

/**
 * The programs that the tests run besides Node.js. `directories` are searched after PATH: on Debian, servers are not in
 * the PATH of ordinary users, and PostgreSQL has a directory for each version.
 */
const REQUIRED = [
  { command: 'nats-server', package: 'nats-server', directories: SYSTEM, why: 'the message bus' },
  {
    command: 'initdb',
    package: 'postgresql',
    directories: postgresDirectories(),
    why: 'the second database',
  },
  { command: 'pgbouncer', package: 'pgbouncer', directories: SYSTEM, why: 'tests of pooled connections' },
  { command: 'ip', package: 'iproute2', directories: SYSTEM, why: 'tests of several hosts' },
  { command: 'nft', package: 'nftables', directories: SYSTEM, why: 'tests of several hosts' },
  { command: 'haproxy', package: 'haproxy', directories: SYSTEM, why: 'tests of several hosts' },
  { command: 'strace', package: 'strace', directories: [], why: 'tests of what is written to the disk' },
  { command: 'faketime', package: 'faketime', directories: [], why: 'tests of clocks that jump' },
  { command: 'systemd-analyze', package: 'systemd', directories: [], why: 'tests of the unit files' },
  { command: 'shellcheck', package: 'shellcheck', directories: [], why: 'checks of shell scripts' },
  { command: 'lintian', package: 'lintian', directories: [], why: 'checks of the Debian package' },
  { command: 'openssl', package: 'openssl', directories: [], why: 'certificates for test servers' },
  { command: 'curl', package: 'curl', directories: [], why: 'the tour of the README' },
  { command: 'prometheus', package: 'prometheus', directories: [], why: 'tests of the alerts that it sends' },
  {
    command: 'prometheus-alertmanager',
    package: 'prometheus-alertmanager',
    directories: [],
    why: 'tests of the alerts that it forwards',
  },
  {
    command: 'chromium-headless-shell',
    package: 'chromium-headless-shell',
    directories: [],
    why: 'tests of the web pages',
  },
]

const APT_STEPS = [['update'], ['install', '-y', '--no-install-recommends']]

/** Installs the missing packages; without apt-get or root, throws an error with the command to run. */
export function ensureDebianPackages() {
  const missing = REQUIRED.filter(({ command, directories }) => !isInstalled(command, directories))
  if (missing.length === 0) return
  const names = missing.map((each) => each.package)
  if (process.getuid?.() !== 0 || !isInstalled('apt-get', [])) {
    const reasons = missing.map((each) => `${each.package} (${each.why})`).join(', ')
    throw new SetupError(`the tests need ${reasons}; install with: sudo apt-get install ${names.join(' ')}`)
  }
  installPackages(names)
}

/** @param {string[]} names */
function installPackages(names) {
  console.error(`setup: installing ${names.join(', ')} (apt-get) …`)
  for (const [step = '', ...options] of APT_STEPS) {
    const result = spawnSync('apt-get', [step, ...options, ...(step === 'install' ? names : [])], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    })
    if (result.status !== 0) {
      throw new SetupError(`apt-get ${step} failed; it printed:\n${result.stdout}${result.stderr}`)
    }
  }
}

function postgresDirectories() {
  const parent = '/usr/lib/postgresql'
  try {
    return readdirSync(parent).map((version) => join(parent, version, 'bin'))
  } catch {
    return []
  }
}

/**
 * @param {string} command
 * @param {string[]} directories
 */
function isInstalled(command, directories) {
  const path = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)
  return [...path, ...directories].some((directory) => isExecutable(join(directory, command)))
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
