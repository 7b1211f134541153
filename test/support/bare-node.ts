import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const SYSTEM_NODE = '/usr/bin/node'
const OLDEST_MAJOR = 20

/** The Node.js of the system where it is new enough, else the pinned one. */
export function bareNode(): string {
  if (!existsSync(SYSTEM_NODE)) return process.execPath
  const version = execFileSync(SYSTEM_NODE, ['--version'], { encoding: 'utf8' })
  return Number(/^v(\d+)/.exec(version)?.[1]) >= OLDEST_MAJOR ? SYSTEM_NODE : process.execPath
}
