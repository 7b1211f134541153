import { createHash } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { SetupError } from './setup-error.mjs'

const POLL_MS = 200
// Far longer than an installation takes. Needed when another program has got the process id of a dead holder.
const STALE_MS = 15 * 60_000

/**
 * Runs `work` while no other process runs work under the same name. The lock is a file in the temporary directory with
 * the process id of its holder.
 *
 * @param {string} name such as the path of the checkout
 * @param {() => Promise<void>} work
 */
export async function withSetupLock(name, work) {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 16)
  const lock = join(tmpdir(), `platform-setup-${hash}.lock`)
  await acquire(lock)
  const release = () => removeOwn(lock)
  process.once('exit', release)
  try {
    await work()
  } finally {
    process.off('exit', release)
    release()
  }
}

/** @param {string} lock */
async function acquire(lock) {
  let reported = false
  while (!tryAcquire(lock)) {
    if (isStale(lock) && removeStale(lock)) continue
    if (!reported) console.error(`setup: waiting for another set-up of this checkout (${lock}) …`)
    reported = true
    await wait(POLL_MS)
  }
}

/**
 * A link to a file that is complete, so that no other process reads a lock without its holder.
 *
 * @param {string} lock
 */
function tryAcquire(lock) {
  const own = `${lock}.${process.pid}`
  writeFileSync(own, String(process.pid))
  try {
    linkSync(own, lock)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw new SetupError(`cannot create ${lock}: ${String(error)}`, { cause: error })
  } finally {
    rmSync(own, { force: true })
  }
}

/**
 * One process at a time judges the lock again and removes it: another one, which judged it earlier, would remove the lock
 * of the next holder.
 *
 * @param {string} lock
 * @returns {boolean} whether this process has judged it
 */
function removeStale(lock) {
  const guard = `${lock}.guard`
  if (!tryAcquire(guard)) {
    // Its holder was killed within the few lines below.
    if (isStale(guard)) rmSync(guard, { force: true })
    return false
  }
  try {
    if (isStale(lock)) rmSync(lock, { force: true })
    return true
  } finally {
    rmSync(guard, { force: true })
  }
}

/**
 * A process that has taken over the lock of a slow one keeps it.
 *
 * @param {string} lock
 */
function removeOwn(lock) {
  try {
    if (readFileSync(lock, 'utf8') === String(process.pid)) rmSync(lock, { force: true })
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

/** @param {string} lock */
function isStale(lock) {
  try {
    return Date.now() - statSync(lock).mtimeMs > STALE_MS || !isAlive(Number(readFileSync(lock, 'utf8')))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false
  }
  return !isZombie(pid)
}

/**
 * A process that was killed keeps its number until its parent reads how it ended, see proc_pid_stat(5). The set-up runs
 * before the packages are there, with any Node.js, so it shares no code with the platform.
 *
 * @param {number} pid
 */
function isZombie(pid) {
  try {
    return /^.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
