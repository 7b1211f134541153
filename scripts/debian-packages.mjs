import { spawnSync } from 'node:child_process'
import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { SetupError } from './setup-error.mjs'

/** Not in the PATH of ordinary users. */
const SYSTEM = ['/usr/sbin', '/sbin']

/**
 * A program that npm scripts run besides Node.js.
 *
 * @typedef {object} Program
 * @property {string} command
 * @property {string} package the Debian package that has it
 * @property {string[]} [directories] where it is looked for after PATH: on Debian, servers are not in the PATH of
 *   ordinary users, and PostgreSQL has a directory for each version
 * @property {string} why for people
 */

/** @type {Program[]} */
const SERVERS = [
  { command: 'nats-server', package: 'nats-server', directories: SYSTEM, why: 'the message bus' },
  {
    command: 'initdb',
    package: 'postgresql',
    directories: postgresDirectories(),
    why: 'the second database',
  },
]
/** @type {Program[]} */
const HOSTS = [
  { command: 'ip', package: 'iproute2', directories: SYSTEM, why: 'several hosts' },
  { command: 'nft', package: 'nftables', directories: SYSTEM, why: 'several hosts' },
  { command: 'haproxy', package: 'haproxy', directories: SYSTEM, why: 'several hosts' },
  { command: 'patroni', package: 'patroni', why: 'a primary that is replaced' },
  { command: 'etcd', package: 'etcd-server', why: 'a primary that is replaced' },
]
const STRACE = { command: 'strace', package: 'strace', why: 'what is written to the disk' }
const FAKETIME = { command: 'faketime', package: 'faketime', why: 'clocks that jump' }
const CHROMIUM = {
  command: 'chromium-headless-shell',
  package: 'chromium-headless-shell',
  why: 'the web pages',
}
/** @type {Program[]} */
const ONLY_TESTS = [
  { command: 'firefox-esr', package: 'firefox-esr', why: 'the web pages in Firefox' },
  { command: 'WebKitWebDriver', package: 'webkit2gtk-driver', why: 'the web pages in WebKit' },
  { command: 'Xvfb', package: 'xvfb', why: 'the display of WebKit' },
  { command: 'pgbouncer', package: 'pgbouncer', directories: SYSTEM, why: 'pooled connections' },
  { command: 'systemd-analyze', package: 'systemd', why: 'the unit files' },
  { command: 'shellcheck', package: 'shellcheck', why: 'checks of shell scripts' },
  { command: 'lintian', package: 'lintian', why: 'checks of the Debian package' },
  { command: 'openssl', package: 'openssl', why: 'certificates for test servers' },
  { command: 'nginx', package: 'nginx-light', directories: SYSTEM, why: 'the platform behind nginx' },
  { command: 'caddy', package: 'caddy', why: 'the platform behind Caddy' },
  { command: 'curl', package: 'curl', why: 'the tour of the README' },
  { command: 'jq', package: 'jq', why: 'the guide of the nightly backup' },
  { command: 'postfix', package: 'postfix', directories: SYSTEM, why: 'the mails about alerts' },
  { command: 'prometheus', package: 'prometheus', why: 'the alerts that it sends' },
  {
    command: 'prometheus-alertmanager',
    package: 'prometheus-alertmanager',
    why: 'the alerts that it forwards',
  },
]

const TESTS = [...SERVERS, ...HOSTS, STRACE, FAKETIME, CHROMIUM, ...ONLY_TESTS]

/**
 * What each npm script needs; one that is not listed needs nothing.
 *
 * @type {Record<string, Program[]>}
 */
const REQUIRED = {
  test: TESTS,
  'test:long': TESTS,
  bench: [...SERVERS, STRACE, CHROMIUM],
  cluster: [...SERVERS, ...HOSTS],
  chaos: [...SERVERS, ...HOSTS, STRACE, FAKETIME],
}

const APT_STEPS = [['update'], ['install', '-y', '--no-install-recommends']]

/**
 * Installs the missing packages; without apt-get or root, throws an error with the command to run.
 *
 * @param {string} script the name of the npm script
 */
export function ensureDebianPackages(script) {
  const required = REQUIRED[script] ?? []
  const missing = required.filter(({ command, directories }) => !isInstalled(command, directories))
  if (missing.length === 0) return
  const names = missing.map((each) => each.package)
  if (process.getuid?.() !== 0 || !isInstalled('apt-get')) {
    const reasons = missing.map((each) => `${each.package} (${each.why})`).join(', ')
    throw new SetupError(
      `npm run ${script} needs ${reasons}; install with: sudo apt-get install ${names.join(' ')}`,
    )
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
 * @param {string[]} [directories]
 */
function isInstalled(command, directories = []) {
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
