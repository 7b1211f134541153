import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Lets go; may be called twice. */
export type Release = () => void

/** Another round is under way. */
export interface Held {
  readonly heldBy: number
}

// Enough for a crowd of rounds that find the lock of a dead one at the same moment.
const MAX_ATTEMPTS = 10
// A process that was killed, and whose parent has not looked yet.
const ENDED_STATES = ['Z', 'X']
const DEAD = 'dead'

/**
 * Takes the lock, or answers who holds it. The file names a process and when that process began, so that a lock
 * outlives neither a kill nor a reboot that gives its number to another process. It appears complete or not at all.
 */
export function takeLock(path: string): Release | Held {
  const own = processMark(process.pid)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (tryTake(path, own)) {
      removeLeftovers(path)
      return () => releaseOwn(path, own)
    }
    const found = readMark(path)
    if (found === undefined) continue
    const pid = Number(found.split(' ')[0])
    if (found === processMark(pid)) return { heldBy: pid }
    breakLock(path, found)
  }
  throw new Error(`${path}: could be neither taken nor broken`)
}

function tryTake(path: string, mark: string): boolean {
  const candidate = `${path}.${process.pid}`
  try {
    writeFileSync(candidate, mark, { mode: 0o600 })
    linkSync(candidate, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(candidate, { force: true })
  }
}

/** Takes away what rounds have left that were killed in the middle of taking or breaking the lock. */
function removeLeftovers(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    const pid = name.startsWith(`${basename(path)}.`) ? /\.(\d+)(\.dead)?$/.exec(name)?.[1] : undefined
    if (pid !== undefined && startOf(Number(pid)) === DEAD) rmSync(join(dirname(path), name), { force: true })
  }
}

function releaseOwn(path: string, own: string): void {
  if (readMark(path) === own) rmSync(path, { force: true })
}

/** Moves a dead lock away; when it was a living one that had just replaced it, puts that one back. */
function breakLock(path: string, dead: string): void {
  const moved = `${path}.${process.pid}.dead`
  try {
    renameSync(path, moved)
    if (readMark(moved) !== dead) linkSync(moved, path)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error))) throw error
  } finally {
    rmSync(moved, { force: true })
  }
}

function readMark(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** `pid start`, the second in ticks since the boot (field 22 of /proc/pid/stat), after the boot's own id. */
function processMark(pid: number): string {
  return `${pid} ${startOf(pid)} ${bootId()}`
}

function startOf(pid: number): string {
  const stat = readOr(`/proc/${pid}/stat`, '')
  // The name of the program, in brackets, may hold anything.
  const [state = 'X', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return stat === '' || ENDED_STATES.includes(state) ? DEAD : (fields[18] ?? '')
}

/** Names the running of this machine; empty where the system has no such name. */
export function bootId(): string {
  return readOr('/proc/sys/kernel/random/boot_id', '').trim()
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
