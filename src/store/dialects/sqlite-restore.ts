import { constants, existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { chmod, chown, copyFile, link, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../kernel/clock.ts'
import { AppError } from '../../kernel/errors.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { hashFile } from '../files/thread.ts'
import {
  databaseInUse,
  type Restored,
  type RestoredSnapshot,
  type RestoreTarget,
} from '../files/restore-target.ts'
import { moveFile } from '../files/snapshot.ts'
import { STORE_LIMITS } from '../unavailable.ts'
import { isBusy } from './sqlite-errors.ts'
import { openSqlite } from './sqlite.ts'

/** The files beside a database that belong to it. */
const COMPANIONS = ['-wal', '-shm']
const OWNER_ONLY = 0o600
const PERMISSIONS = 0o777

/** Restores a SQLite file: the copy takes its place in one step, and the former file keeps another name. */
export function sqliteRestore(name: string): RestoreTarget {
  const path = targetOf(name)
  const requireUnserved = () => {
    if (existsSync(path) && isOpenElsewhere(path)) throw databaseInUse(`The database ${path}`)
  }
  return {
    requireUnserved: async () => requireUnserved(),
    async replace(snapshot, stamp) {
      const copy = `${path}.restoring`
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        await copySnapshot(snapshot, copy)
        await finishCopy(snapshot, copy)
        await giveTo(accessTo(path), copy)
        // A process may have started since the first check: a large file is verified and copied for minutes.
        requireUnserved()
        const former = await keepFormer(path, stamp)
        await moveFile(copy, path)
        return { former } satisfies Restored
      } catch (error) {
        for (const name of ['', ...COMPANIONS]) await rm(`${copy}${name}`, { force: true })
        throw error
      }
    },
  }
}

/** The file itself: a database that is a symbolic link stays one. */
function targetOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  return isLink ? resolve(dirname(path), readlinkSync(path)) : path
}

interface Access {
  readonly uid: number
  readonly gid: number
  readonly mode: number
}

/** Who may use the database: the restoration may be a command of root. A new one belongs to the owner of its directory. */
function accessTo(path: string): Access {
  const former = statSync(path, { throwIfNoEntry: false })
  if (former) return { uid: former.uid, gid: former.gid, mode: former.mode & PERMISSIONS }
  const { uid, gid } = statSync(dirname(path))
  return { uid, gid, mode: OWNER_ONLY }
}

/** Only root may give a file away. Changes only what differs: some file systems refuse any change. */
async function giveTo({ uid, gid, mode }: Access, path: string): Promise<void> {
  const current = statSync(path)
  const differs = current.uid !== uid || current.gid !== gid
  if (differs && process.getuid?.() === 0) await chown(path, uid, gid)
  if ((current.mode & PERMISSIONS) !== mode) await chmod(path, mode)
}

/** A process that has the database open holds a lock on it, also when it does nothing. */
function isOpenElsewhere(path: string): boolean {
  using database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive; rollback')
    return false
  } catch (error) {
    // Whatever else is wrong with the file is a reason to restore another one.
    return isBusy(error)
  }
}

async function copySnapshot(
  { path, sha256 }: { readonly path: string; readonly sha256: string },
  copy: string,
): Promise<void> {
  await rm(copy, { force: true })
  await copyFile(path, copy, constants.COPYFILE_EXCL)
  await chmod(copy, OWNER_ONLY)
  await using file = await open(copy, 'r+')
  await file.sync()
  if ((await hashFile(copy)) === sha256) return
  throw new AppError('unavailable', 'copy_failed', `The copy ${copy} differs from ${path}; check the disk.`)
}

/** Before the copy takes the place of the database: after a crash there is either the former one or a finished one. */
async function finishCopy({ finish }: RestoredSnapshot, path: string): Promise<void> {
  const quiet = { clock: systemClock, metrics: noMetrics, logger: silentLogger }
  const store = await openSqlite({ path, readOnly: false, ...quiet, limits: STORE_LIMITS.sqlite })
  try {
    await store.write(finish, { longRunning: true })
  } finally {
    await store.close()
  }
}

/** The path of the database is never without a file, so no process creates an empty one there. */
async function keepFormer(path: string, stamp: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined
  const former = `${path}.before-restore-${stamp}`
  await link(path, former)
  for (const companion of COMPANIONS)
    if (existsSync(`${path}${companion}`)) await rename(`${path}${companion}`, `${former}${companion}`)
  return former
}
