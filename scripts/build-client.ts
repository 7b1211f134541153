// Builds the client for TypeScript as a package that needs no other one, and packs it for a registry.
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'rolldown'
import { root } from './runtime.mjs'

const SOURCE = join(root, 'clients/typescript')
/** The license of each package that is inside, by the place of its text. */
const LICENSES = { ws: 'ws/LICENSE', typebox: 'typebox/license' }
const POLYFILLS = join(SOURCE, 'src/node-20.ts')

/** Returns the path of the tarball in the directory. */
export async function buildClient(directory: string): Promise<string> {
  const files = join(directory, 'package')
  rmSync(files, { recursive: true, force: true })
  mkdirSync(files, { recursive: true })
  await buildModules(join(files, 'dist'))
  writeDeclarations(join(files, 'dist'))
  copyTexts(files)
  const printed = execFileSync('npm', ['pack', '--json', '--pack-destination', directory], {
    cwd: files,
    encoding: 'utf8',
  })
  const [packed] = JSON.parse(printed) as [{ readonly filename: string }]
  return join(directory, packed.filename)
}

export async function buildModules(directory: string): Promise<void> {
  await build({
    input: { index: join(SOURCE, 'src/index.ts'), vpn: join(SOURCE, 'src/vpn.ts') },
    platform: 'node',
    transform: {
      target: 'node20',
      inject: {
        'Promise.withResolvers': [POLYFILLS, 'withResolvers'],
        'URL.parse': [POLYFILLS, 'parseUrl'],
      },
    },
    output: { dir: directory, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' },
  })
}

/** The compiler follows the imports of the VPN client; its declarations do not appear in those of the client. */
function writeDeclarations(directory: string): void {
  const scratch = mkdtempSync(join(tmpdir(), 'platform-client-types-'))
  try {
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', SOURCE, '--outDir', scratch], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    const from = join(scratch, 'clients/typescript/src')
    for (const file of globSync('*.d.ts', { cwd: from })) {
      const text = readFileSync(join(from, file), 'utf8')
      writeFileSync(join(directory, file), text.replaceAll(/(from '\.\/[^']+)\.ts'/g, "$1.js'"))
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function copyTexts(directory: string): void {
  for (const name of ['README.md', 'examples']) {
    cpSync(join(SOURCE, name), join(directory, name), { recursive: true })
  }
  cpSync(join(root, 'LICENSE'), join(directory, 'LICENSE'))
  const description = {
    ...readJson(join(SOURCE, 'package.json')),
    version: readJson(join(root, 'package.json'))['version'],
  }
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(description, null, 2)}\n`)
  const licenses = Object.entries(LICENSES).map(
    ([name, file]) => `${name}\n\n${readFileSync(join(root, 'node_modules', file), 'utf8').trim()}\n`,
  )
  writeFileSync(join(directory, 'THIRD-PARTY-LICENSES'), licenses.join('\n\n'))
}

function readJson(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
}

if (import.meta.main) console.log(await buildClient(join(root, 'dist/client')))
