// Writes the platform as it is released: few files that need nothing but the pinned Node.js, and start in less than half the time.
import { cpSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const ROOT = join(import.meta.dirname, '..')

/** The program, and the threads that it starts from files of their own beside it. */
const ENTRIES = {
  platform: 'bin/platform.ts',
  'sqlite-reader': 'src/store/dialects/sqlite-reader.ts',
  'sqlite-checkpoint': 'src/store/dialects/sqlite-checkpoint.ts',
}

const SWAGGER_STATIC = join(dirname(fileURLToPath(import.meta.resolve('@fastify/swagger-ui'))), 'static')

/** What is read from files at run time: from where it comes, and where the code in `lib` looks for it. */
const ASSETS = [
  { from: SWAGGER_STATIC, to: 'static' },
  { from: join(SWAGGER_STATIC, 'logo.svg'), to: 'lib/static/logo.svg' },
  { from: join(ROOT, 'dist/console'), to: 'lib/console' },
]

/** Builds the release into a directory, which it empties first. The console must be built already. */
export async function buildPlatform(directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true })
  await build({
    cwd: ROOT,
    input: ENTRIES,
    platform: 'node',
    // The driver of PostgreSQL has a native half that is optional.
    external: ['pg-native'],
    output: {
      dir: directory,
      format: 'esm',
      entryFileNames: ({ name }) => (name === 'platform' ? '[name].mjs' : 'lib/[name].mjs'),
      chunkFileNames: 'lib/[name]-[hash].mjs',
      minify: true,
      comments: false,
    },
  })
  for (const { from, to } of ASSETS) cpSync(from, join(directory, to), { recursive: true })
}

if (import.meta.main) await buildPlatform(join(ROOT, 'dist/bundle'))
