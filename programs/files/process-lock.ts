import { linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { startOf } from './process-state.ts'
import { systemErrorCode } from './system-error.ts'

/** Releases the lock; may be called twice. */
export type ReleaseLock = () => void

/** The process that has the lock. */
export interface LockOwner {
  readonly heldBy: number
}

// Several processes may find the lock of an ended process at the same moment.
const MAX_ATTEMPTS = 10

/**
 * Takes a lock that is a file, or returns its owner. The file names a process by its number and its start: the lock of a
 * killed process is taken over, also when the number belongs to another process by then. The file is never seen half
 * written.
 */
export function takeProcessLock(path: string): ReleaseLock | LockOwner {
  const own = describeProcess(process.pid)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    // Read before a file is written, so that a full disk does not hide that the lock is held.
    const owner = readOwner(path)
    const heldBy = owner === undefined ? undefined : processOf(owner)
    if (heldBy !== undefined) return { heldBy }
    const breaker = owner === undefined ? undefined : breakLock(path, owner)
    if (breaker) return breaker
    if (!tryTake(path, own)) continue
    removeLeftovers(path)
    return () => releaseOwn(path, own)
  }
  throw new Error(`${path}: could not be taken, and belongs to no running process`)
}

/** The running process that has the lock; undefined when there is none. Takes no lock. */
export function lockOwner(path: string): number | undefined {
  const owner = readOwner(path)
  return owner === undefined ? undefined : processOf(owner)
}

/** The process of a lock file, undefined when it has ended. */
function processOf(owner: string): number | undefined {
  const pid = Number(owner.split(' ')[0])
  return owner === describeProcess(pid) ? pid : undefined
}

/** A link, since a new file could be seen before its content is written. */
function tryTake(path: string, owner: string): boolean {
  const candidate = `${path}.${process.pid}`
  try {
    writeFileSync(candidate, owner, { mode: 0o600 })
    linkSync(candidate, path)
    return true
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(candidate, { force: true })
  }
}

/** Removes the files of processes that were killed while they took the lock. */
function removeLeftovers(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    const pid = name.startsWith(`${basename(path)}.`) ? /\.(\d+)(\.ended)?$/.exec(name)?.[1] : undefined
    if (pid !== undefined && startOf(Number(pid)) === undefined)
      rmSync(join(dirname(path), name), { force: true })
  }
}

function releaseOwn(path: string, own: string): void {
  if (readOwner(path) === own) rmSync(path, { force: true })
}

/**
 * Removes the lock of an ended process, or returns the process that is about to. Only who has the lock for it may: of two that
 * have read the ended owner, the second would otherwise remove the new lock of the first.
 */
function breakLock(path: string, endedOwner: string): LockOwner | undefined {
  const release = takeProcessLock(`${path}.break`)
  if (typeof release !== 'function') return release
  try {
    if (readOwner(path) === endedOwner) rmSync(path, { force: true })
    return undefined
  } finally {
    release()
  }
}

function readOwner(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The number of a process, its start, and the boot. */
function describeProcess(pid: number): string {
  return `${pid} ${startOf(pid) ?? 'ended'} ${bootId()}`
}

/** Identifies this boot of the machine; empty where the system has no such id. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}
