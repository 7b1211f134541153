// What the npm scripts call. Written for the host's Node.js (18 and later) and built-in modules only: it makes the
// dependencies and the pinned runtime available first, everything else then runs on that runtime.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { ensureConsole } from './console-build.mjs'
import { ensureDebianPackages } from './debian-packages.mjs'
import { ensureDependencies, findRuntime, root } from './setup.mjs'
import { become } from './become.mjs'
import { SetupError } from './setup-error.mjs'

/**
 * What each npm script runs on the pinned runtime; arguments of the caller are added at the end.
 * @type {Record<string, { run: string[], needsDebianPackages?: boolean, needsConsole?: boolean }>}
 */
const TARGETS = {
  start: { run: ['bin/platform.ts', 'serve'], needsConsole: true },
  test: { run: ['scripts/test.ts'], needsDebianPackages: true, needsConsole: true },
  check: { run: ['scripts/check.ts'] },
  format: { run: ['node_modules/oxfmt/bin/oxfmt'] },
  bench: { run: ['bench/run.ts'], needsDebianPackages: true, needsConsole: true },
  build: { run: ['scripts/build-platform.ts'], needsConsole: true },
  'build:ticket-notify': { run: ['scripts/build-ticket-notify.ts'] },
  chaos: { run: ['test/chaos/run.ts'], needsDebianPackages: true },
}

/** @param {string[]} argv */
async function main([name = '', ...args]) {
  const target = TARGETS[name]
  if (!target) throw new SetupError(`usage: node scripts/run.mjs ${Object.keys(TARGETS).join(' | ')}`)
  await ensureDependencies()
  const runtime = findRuntime()
  if (target.needsDebianPackages) ensureDebianPackages()
  if (target.needsConsole) await ensureConsole(runtime)
  const [program = '', ...fixed] = target.run
  if (!existsSync(join(root, program))) throw new SetupError(`${program} is missing from this checkout`)
  process.chdir(root)
  process.env['PATH'] = [join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter)
  become(runtime, [program, ...fixed, ...args])
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error instanceof SetupError ? `setup: ${error.message}` : error)
  process.exitCode = 1
})
