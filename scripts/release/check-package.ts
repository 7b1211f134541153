// Builds the package of this checkout and that of an older release, and tries both on a fresh Debian: installation,
// upgrade under load, watchdog, downgrade, purge. Needs root; takes some minutes.
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
]
const MIGRATIONS = 'src/store/migrate.ts'
const LAST_MIGRATION = /\n {2}\w+,\n(?=\])/

/** A copy of this checkout as its predecessor: an older version, without the last step of the schema. */
function olderCheckout(directory: string): void {
  for (const name of COPIED) cpSync(join(root, name), join(directory, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  const manifest = { ...packageJson, version: '0.0.1' }
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest))
  const migrations = readFileSync(join(directory, MIGRATIONS), 'utf8')
  if (!LAST_MIGRATION.test(migrations)) throw new Error(`${MIGRATIONS} has no list of migrations`)
  writeFileSync(join(directory, MIGRATIONS), migrations.replace(LAST_MIGRATION, '\n'))
}

function builtPackage(checkout: string, directory: string): string {
  mkdirSync(directory)
  const script = join(checkout, 'scripts/release/build-package.ts')
  return runToEnd(process.execPath, [script, directory, hostArchitecture().name], { cwd: checkout }).trim()
}

const directory = mkdtempSync(join(tmpdir(), 'platform-check-package-'))
try {
  olderCheckout(join(directory, 'checkout'))
  const older = builtPackage(join(directory, 'checkout'), join(directory, 'older'))
  const newer = builtPackage(root, join(directory, 'newer'))
  const script = join(root, 'test/package/check-package.sh')
  const { status } = spawnSync(script, [join(directory, 'system'), older, newer], { stdio: 'inherit' })
  process.exitCode = status ?? 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
