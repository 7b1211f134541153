// Bundles the npm packages that the program imports, so that a start from source reads few files. Set-up runs it.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'rolldown'
import { NOT_BUNDLED } from './bundling.ts'
import { bundleDirectory, cacheDirectory, SPECIFIERS } from './dependency-bundle.mjs'

async function buildDependencies(directory: string): Promise<void> {
  const bundle = join(directory, 'bundle')
  await build({
    input: await writeEntries(join(directory, 'entries')),
    platform: 'node',
    external: NOT_BUNDLED,
    // CommonJS has it, the ES modules of the bundle do not.
    transform: { define: { __dirname: 'import.meta.dirname' } },
    output: {
      dir: bundle,
      format: 'esm',
      entryFileNames: '[name].mjs',
      chunkFileNames: 'shared/[name]-[hash].mjs',
      // Stack traces keep the names of functions.
      minify: { compress: true, mangle: false },
      comments: false,
    },
  })
  publish(bundle)
}

/** Writes an ES module for each import of the program, with the same exports; answers their files by specifier. */
async function writeEntries(directory: string): Promise<Record<string, string>> {
  const entries: Record<string, string> = {}
  for (const specifier of SPECIFIERS) {
    const file = join(directory, `${specifier}.mjs`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `export { ${await exportsOf(specifier)} } from '${specifier}'\n`)
    entries[specifier] = file
  }
  return entries
}

/** The names are asked of Node.js because those of a CommonJS package are not declared anywhere. */
async function exportsOf(specifier: string): Promise<string> {
  const names = Object.keys((await import(specifier)) as object)
  return names.filter((name) => name !== 'module.exports').join(', ')
}

// What file systems answer when a directory is renamed to one that has files; XFS answers the second, see rename(2).
const NOT_EMPTY: readonly unknown[] = ['ENOTEMPTY', 'EEXIST']

/** Another process may have built the same bundle in the meantime. */
function publish(bundle: string): void {
  try {
    renameSync(bundle, bundleDirectory())
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && NOT_EMPTY.includes(error.code))) throw error
  }
}

mkdirSync(cacheDirectory, { recursive: true })
const directory = mkdtempSync(join(cacheDirectory, 'new-'))
try {
  await buildDependencies(directory)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
