// Builds the package of this checkout and that of a successor, and tries both on a fresh Debian: installation, the tour of
// the README, faults, upgrade under load, watchdog, downgrade, purge. Needs root; takes some minutes. With the package of
// an older release as its argument, it upgrades from that release to this checkout instead.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { root } from '../runtime.mjs'
import { hostArchitecture } from './architecture.ts'
import { runToEnd } from './run-to-end.ts'

const COPIED = [
  'bin',
  'src',
  'programs',
  'scripts',
  'deploy',
  'docs',
  'console',
  'dist/console',
  'package.json',
  'package-lock.json',
  '.npmrc',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
]
const MIGRATIONS = 'src/store/migrate.ts'
const END_OF_MIGRATIONS = /(export const MIGRATIONS: [^=]+= \[[^\]]+)\]/
/** A step that an older program ignores. */
const STEP = `{
    name: '9999-successor',
    breaking: false,
    up: async ({ db }) => db.schema.createTable('successor').addColumn('id', 'text').execute(),
  },
]`

/** A copy of this checkout as its successor: a newer version, with one more step of the schema. */
function successorCheckout(directory: string): void {
  for (const name of COPIED) cpSync(join(root, name), join(directory, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  const manifest = { ...packageJson, version: '999.0.0' }
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest))
  const migrations = readFileSync(join(directory, MIGRATIONS), 'utf8')
  if (!END_OF_MIGRATIONS.test(migrations)) throw new Error(`${MIGRATIONS} has no list of migrations`)
  writeFileSync(join(directory, MIGRATIONS), migrations.replace(END_OF_MIGRATIONS, `$1${STEP}`))
}

function builtPackage(checkout: string, directory: string): string {
  mkdirSync(directory)
  const script = join(checkout, 'scripts/release/build-package.ts')
  return runToEnd(process.execPath, [script, directory, hostArchitecture().name], { cwd: checkout }).trim()
}

/** The packages to upgrade from and to. */
function builtPackages(directory: string, given: string | undefined): [older: string, newer: string] {
  const own = builtPackage(root, join(directory, 'own'))
  if (given !== undefined) return [given, own]
  successorCheckout(join(directory, 'checkout'))
  return [own, builtPackage(join(directory, 'checkout'), join(directory, 'successor'))]
}

const directory = mkdtempSync(join(tmpdir(), 'platform-check-package-'))
try {
  const packages = builtPackages(directory, process.argv[2])
  const script = join(root, 'test/package/check-package.sh')
  const { status } = spawnSync(script, [join(directory, 'system'), ...packages], { stdio: 'inherit' })
  process.exitCode = status ?? 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
