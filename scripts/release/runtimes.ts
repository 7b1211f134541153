import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { extract } from 'tar'
import { findRuntime, root } from '../runtime.mjs'
import { hostArchitecture, type Architecture } from './architecture.ts'
import { runToEnd } from './run-to-end.ts'

export interface Runtime {
  /** The Node.js that becomes the executable. */
  readonly file: string
  /** The Node.js, of the same version, that builds it on this machine. */
  readonly builder: string
  /** Whether this machine can run `file`. */
  readonly runsHere: boolean
}

const CACHE = join(root, 'node_modules/.cache/platform/runtimes')

/**
 * The Node.js of the release: for this machine's architecture `NODE_BINARY`, or else the pinned one; for another
 * architecture the package that the lock file names, which npm does not install here.
 */
export async function runtimeFor(architecture: Architecture): Promise<Runtime> {
  const chosen = process.env['NODE_BINARY']
  if (architecture === hostArchitecture()) {
    const file = chosen ?? findRuntime()
    return { file, builder: file, runsHere: true }
  }
  if (chosen !== undefined) {
    throw new Error(
      `NODE_BINARY is for ${hostArchitecture().name}; build for ${architecture.name} without it, or on such a machine`,
    )
  }
  return { file: await packagedRuntime(architecture), builder: findRuntime(), runsHere: false }
}

interface LockedPackage {
  readonly version: string
  readonly integrity: string
}

async function packagedRuntime({ runtimePackage }: Architecture): Promise<string> {
  const { version, integrity } = lockedPackage(runtimePackage)
  const directory = join(CACHE, `${runtimePackage}-${version}`)
  const file = join(directory, 'package/bin/node')
  if (!existsSync(file)) await download({ specifier: `${runtimePackage}@${version}`, integrity, directory })
  return file
}

function lockedPackage(name: string): LockedPackage {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, LockedPackage>>
  }
  const locked = packages[`node_modules/${name}`]
  if (!locked) throw new Error(`package-lock.json has no ${name}`)
  return locked
}

async function download(wanted: { specifier: string; integrity: string; directory: string }): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const fresh = mkdtempSync(join(CACHE, 'new-'))
  try {
    const options = ['--silent', '--pack-destination', fresh]
    const archive = join(
      fresh,
      runToEnd('npm', ['pack', wanted.specifier, ...options], { cwd: fresh }).trim(),
    )
    const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`
    if (found !== wanted.integrity) {
      throw new Error(`${wanted.specifier} has the hash ${found}; package-lock.json has ${wanted.integrity}`)
    }
    await extract({ file: archive, cwd: fresh, filter: (path) => path === 'package/bin/node' })
    rmSync(archive)
    rmSync(wanted.directory, { recursive: true, force: true })
    renameSync(fresh, wanted.directory)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
