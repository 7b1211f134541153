// Builds `dist/platform`, the executable for this machine, its bill of materials and SHA256SUMS. With `--release` builds
// the executables and packages for all architectures, in `dist/release`.
import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }
import { root } from '../runtime.mjs'
import { ARCHITECTURES, hostArchitecture } from './architecture.ts'
import { billOfMaterials } from './bill-of-materials.ts'
import { packageVersion } from './commit.ts'
import { buildExecutable } from './executable.ts'
import { buildPackage } from './package.ts'

const DIST = join(root, 'dist')

async function buildHere(): Promise<void> {
  mkdirSync(DIST, { recursive: true })
  const output = join(DIST, 'platform')
  await buildExecutable({ output, architecture: hostArchitecture() })
  await describe(DIST, 'sbom.cdx.json', [output])
}

async function buildRelease(): Promise<void> {
  const version = packageVersion(packageJson.version)
  const directory = join(DIST, 'release')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const files: string[] = []
  for (const architecture of ARCHITECTURES) {
    const executable = join(directory, `platform-${version}-linux-${architecture.name}`)
    await buildExecutable({ output: executable, architecture })
    files.push(executable, buildPackage({ directory, architecture, executable, version }))
  }
  await describe(directory, `platform-${version}.cdx.json`, files)
}

/** Writes the bill of materials, and the hashes of all files. */
async function describe(directory: string, billName: string, files: readonly string[]): Promise<void> {
  const bill = join(directory, billName)
  writeFileSync(bill, billOfMaterials())
  const lines: string[] = []
  for (const file of [...files, bill].sort()) lines.push(`${await sha256(file)}  ${basename(file)}\n`)
  writeFileSync(join(directory, 'SHA256SUMS'), lines.join(''))
}

async function sha256(file: string): Promise<string> {
  const digest = createHash('sha256')
  await pipeline(createReadStream(file), digest)
  return digest.digest('hex')
}

const { values } = parseArgs({ options: { release: { type: 'boolean', default: false } } })
await (values.release ? buildRelease() : buildHere())
