// The code of the platform as a few files that need nothing but the pinned Node.js.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type OutputOptions, type Plugin } from 'rolldown'
import { NOT_BUNDLED } from './bundling.ts'
import { commitOf } from './release/commit.ts'

const ROOT = join(import.meta.dirname, '..')

/**
 * The threads that the program starts (src/store/files/thread.ts). Each is bundled separately: rolldown puts shared code into
 * the file of the program, so a thread that loaded it would run the program.
 */
const THREADS = {
  'sqlite-reader': 'src/store/dialects/sqlite-reader.ts',
  'sqlite-backup': 'src/store/dialects/sqlite-backup.ts',
  'sqlite-contents-thread': 'src/store/dialects/sqlite-contents-thread.ts',
  'file-hash-thread': 'src/store/files/file-hash-thread.ts',
  'sqlite-checkpoint': 'src/store/dialects/sqlite-checkpoint.ts',
}

/**
 * The file that users start. The compile cache keeps only modules that are loaded after it was enabled. The mock servers have
 * none, because they write no files.
 */
const PROGRAM = `#!/usr/bin/env node
if (!['mock-oidc', 'mock-drive', 'mock-pay'].includes(process.argv[2])) require('node:module').enableCompileCache()
require('./lib/main.cjs')
`

/** The manifest as npm publishes it: with the commit (src/app/version.ts). */
const MANIFEST: Plugin = {
  name: 'manifest',
  load: (id) => {
    if (id !== join(ROOT, 'package.json')) return null
    const manifest = JSON.parse(readFileSync(id, 'utf8')) as object
    return { code: JSON.stringify({ ...manifest, gitHead: commitOf()?.id }), moduleType: 'json' }
  },
}

/** Builds the release into a directory, which it empties first. The console must be built already. */
export async function buildPlatform(directory: string): Promise<void> {
  const lib = join(directory, 'lib')
  rmSync(directory, { recursive: true, force: true })
  await bundleCode(lib)
  cpSync(join(ROOT, 'dist/console'), join(lib, 'console'), { recursive: true })
  writeFileSync(join(directory, 'platform.cjs'), PROGRAM, { mode: 0o755 })
}

// What every part imports, and what imports none of them, is one file: in several, two files could need each other.
const CODE_SPLITTING = {
  groups: [
    { name: 'core', test: /\/src\/(?:kernel|config)\// },
    { name: 'store', test: /\/src\/store\/(?:files\/|work\/)?[\w-]+\.ts/ },
  ],
}

/** The names of the files that {@link bundleCode} has written. */
export interface BundledCode {
  /** `main.cjs`, and what it loads when it needs it. */
  readonly program: readonly string[]
  /** Each contains all the code that it needs. */
  readonly threads: readonly string[]
}

/** Bundles the program and its threads into a directory. */
export async function bundleCode(directory: string): Promise<BundledCode> {
  const program = await bundle(directory, 'main', 'bin/platform.ts', { codeSplitting: CODE_SPLITTING })
  const threads: string[] = []
  for (const [name, file] of Object.entries(THREADS))
    threads.push(...(await bundle(directory, name, file, { codeSplitting: false })))
  return { program, threads }
}

async function bundle(dir: string, name: string, file: string, options: OutputOptions): Promise<string[]> {
  const { output } = await build({
    cwd: ROOT,
    input: { [name]: file },
    platform: 'node',
    external: NOT_BUNDLED,
    plugins: [MANIFEST],
    output: {
      dir,
      // An ES module that imports node:http loads everything that node:http exports, a WebSocket client included.
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name]-[hash].cjs',
      minify: true,
      comments: false,
      ...options,
    },
  })
  refuseCycle(new Map(output.map((file) => [file.fileName, file.type === 'chunk' ? file.imports : []])))
  const names = output.map(({ fileName }) => fileName).sort()
  for (const each of names) escapeFile(join(dir, each))
  return names
}

/** Of two files that need each other, the one that is loaded first would use what the other one does not have yet. */
function refuseCycle(imports: ReadonlyMap<string, readonly string[]>): void {
  const checked = new Set<string>()
  const follow = (file: string, way: readonly string[]): void => {
    if (way.includes(file))
      throw new Error(`Files of the bundle need each other: ${[...way, file].join(' → ')}.`)
    if (checked.has(file)) return
    for (const next of imports.get(file) ?? []) follow(next, [...way, file])
    checked.add(file)
  }
  for (const file of imports.keys()) follow(file, [])
}

/**
 * V8 keeps the text of the program, with two bytes for each character if one of them is not in Latin-1. An escape means the
 * same wherever the code has such characters: in strings, templates and patterns.
 */
function escapeFile(file: string): void {
  const text = readFileSync(file, 'utf8')
  // By code unit: two escapes make one character outside of the first 65,536.
  const escape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  writeFileSync(file, text.replaceAll(/[\u0080-\uffff]/g, escape))
}
