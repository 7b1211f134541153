import { chmodSync, mkdirSync, statSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import type { InstalledEntry } from './entry.ts'
import { backupsDirectory, logDirectory, type InstallSettings } from './settings.ts'
import type { TargetRoot } from './target-root.ts'

// The umask of a person's shell must not decide about them.
const PARENT_MODE = 0o755
const OTHERS = 0o007

/** The directories of the routine. State and staging contain what the database contains, so only root may read them. */
export function createDirectories(settings: InstallSettings, root: TargetRoot): InstalledEntry[] {
  const modes = new Map([
    [backupsDirectory(settings), 0o700],
    [settings.staging, 0o700],
    [logDirectory(settings), 0o750],
  ])
  return [...modes].map(([path, mode]) => createDirectory(root.locate(path), mode))
}

function createDirectory(path: string, mode: number): InstalledEntry {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats) return inspect(path, stats, mode)
  const first = mkdirSync(dirname(path), { recursive: true, mode: PARENT_MODE })
  if (first !== undefined) openParents(dirname(path), first)
  mkdirSync(path)
  chmodSync(path, mode)
  return { path, result: 'created', note: `mode ${octal(mode)}` }
}

/** A directory that is there keeps its owner and its mode. */
function inspect(path: string, { uid, mode }: Stats, wanted: number): InstalledEntry {
  if (uid !== process.getuid?.())
    return {
      path,
      result: 'left',
      note: `it belongs to the user ${uid}, who can replace what is in it; chown root it`,
    }
  if ((mode & OTHERS) === 0) return { path, result: 'unchanged' }
  return {
    path,
    result: 'left',
    note: `mode ${octal(mode)}: every user may read it; chmod ${octal(wanted)} it`,
  }
}

function openParents(path: string, first: string): void {
  chmodSync(path, PARENT_MODE)
  if (path !== first) openParents(dirname(path), first)
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8)
}
