// Builds the pages for the browser into dist/console, one folder each. `npm start` and `npm test` run it when it is due.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'vite'
import { consoleDirectory, fingerprint, STAMP } from './console-build.mjs'
import { root } from './setup.mjs'

/** Each page, and the path under which a server serves it. */
const PAGES = [{ name: 'tunnels', base: '/tunnels/' }] as const

/** What every browser of the last two years runs. */
const TARGET = 'es2023'

async function buildPages(directory: string): Promise<void> {
  for (const { name, base } of PAGES) {
    await build({
      root: join(root, 'console/pages', name),
      base,
      configFile: false,
      logLevel: 'warn',
      oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
      build: {
        outDir: join(directory, name),
        target: TARGET,
        // The pages' policy allows neither data: addresses nor inline scripts.
        assetsInlineLimit: 0,
        modulePreload: false,
        emptyOutDir: true,
      },
    })
  }
}

/** Takes the place of the build before as a whole, as far as a file system can. */
function replaceDirectory(fresh: string, target: string): void {
  const old = `${target}.old-${process.pid}`
  try {
    renameSync(target, old)
  } catch {
    // There was none.
  }
  renameSync(fresh, target)
  rmSync(old, { recursive: true, force: true })
}

if (import.meta.main) {
  // Before the build: what changes while it runs makes the next start build again.
  const builtFrom = fingerprint()
  const parent = dirname(consoleDirectory)
  mkdirSync(parent, { recursive: true })
  const fresh = mkdtempSync(join(parent, 'console.new-'))
  try {
    await buildPages(fresh)
    writeFileSync(join(fresh, STAMP), builtFrom)
    replaceDirectory(fresh, consoleDirectory)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
