import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/bench-peers')

/** Packages as `name@version`; the first one names the peer. */
export type PeerPackages = readonly [string, ...string[]]

/**
 * Installs a peer, once, outside the project's own dependencies; answers the directory.
 * Rejects where there is no network.
 */
export async function installPeer(packages: PeerPackages): Promise<string> {
  const directory = join(CACHE, packages[0].replaceAll(/[^A-Za-z0-9.-]+/g, '-'))
  const list = join(directory, 'packages.txt')
  const wanted = packages.join('\n')
  if (existsSync(list) && readFileSync(list, 'utf8') === wanted) return directory
  mkdirSync(directory, { recursive: true })
  const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  await promisify(execFile)('npm', ['install', '--prefix', directory, ...options, ...packages])
  // Last, so that an installation that was interrupted begins anew.
  writeFileSync(list, wanted)
  return directory
}
