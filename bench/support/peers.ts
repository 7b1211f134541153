import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/bench-peers')

/**
 * Installs what we are compared with, once, outside the project's own dependencies; answers the directory.
 * Rejects where there is no network.
 */
export async function installPeer(name: string, version: string): Promise<string> {
  const directory = join(CACHE, `${name}-${version}`)
  if (existsSync(join(directory, 'node_modules', name))) return directory
  mkdirSync(directory, { recursive: true })
  const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  await promisify(execFile)('npm', ['install', '--prefix', directory, ...options, `${name}@${version}`])
  return directory
}
