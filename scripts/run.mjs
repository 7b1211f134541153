// Runs an npm script. The host's Node.js (18 and later) installs and builds what is missing, with built-in modules
// only; the script itself then runs on the pinned Node.js.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { become } from './become.mjs'
import { ensureBuilt } from './build-step.mjs'
import { CONSOLE } from './console-build.mjs'
import { ensureDebianPackages } from './debian-packages.mjs'
import { DEPENDENCY_BUNDLE } from './dependency-bundle.mjs'
import { findRuntime, root } from './runtime.mjs'
import { SetupError } from './setup-error.mjs'
import { ensureDependencies } from './setup.mjs'

/**
 * What each npm script runs on the pinned Node.js, and what is built before; arguments of the caller are appended.
 *
 * @type {Record<string, { run: string[], builds?: import('./build-step.mjs').BuildStep[] }>}
 */
const TARGETS = {
  start: { run: ['bin/platform.mjs', 'serve'], builds: [DEPENDENCY_BUNDLE, CONSOLE] },
  dev: { run: ['scripts/dev.ts'], builds: [DEPENDENCY_BUNDLE, CONSOLE] },
  test: { run: ['scripts/test.ts'], builds: [DEPENDENCY_BUNDLE, CONSOLE] },
  'test:long': { run: ['scripts/test.ts', '--long'], builds: [DEPENDENCY_BUNDLE, CONSOLE] },
  check: { run: ['scripts/check.ts'] },
  format: { run: ['node_modules/oxfmt/bin/oxfmt'] },
  bench: { run: ['bench/run.ts'], builds: [DEPENDENCY_BUNDLE, CONSOLE] },
  build: { run: ['scripts/release/build.ts'], builds: [DEPENDENCY_BUNDLE, CONSOLE] },
  'check:package': { run: ['scripts/release/check-package.ts'], builds: [DEPENDENCY_BUNDLE, CONSOLE] },
  'build:client': { run: ['scripts/build-client.ts'] },
  'build:ticket-notify': { run: ['scripts/build-ticket-notify.ts'] },
  cluster: { run: ['scripts/cluster.ts'], builds: [DEPENDENCY_BUNDLE] },
  chaos: { run: ['test/chaos/run.ts'], builds: [DEPENDENCY_BUNDLE, CONSOLE] },
}

/** @param {string[]} argv */
async function main([name = '', ...args]) {
  const target = TARGETS[name]
  if (!target) throw new SetupError(`usage: node scripts/run.mjs ${Object.keys(TARGETS).join(' | ')}`)
  await ensureDependencies()
  const runtime = findRuntime()
  ensureDebianPackages(name)
  for (const step of target.builds ?? []) await ensureBuilt(step, runtime)
  const [program = '', ...fixed] = target.run
  if (!existsSync(join(root, program))) throw new SetupError(`${program} is missing from this checkout`)
  process.chdir(root)
  process.env['PATH'] = [join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter)
  become(runtime, [program, ...fixed, ...args])
}

// Awaited: Node.js reports it when this can never settle.
await main(process.argv.slice(2)).catch((error) => {
  console.error(error instanceof SetupError ? `setup: ${error.message}` : error)
  process.exitCode = 1
})
