import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { flushDirectory } from './private-file.ts'

const READABLE_BY_ALL = 0o644

/**
 * Creates or replaces a file that every user may read. A reader sees the old content or the new one, also after a power
 * failure.
 */
export function replacePublicFile(path: string, text: string): void {
  // A name that neither systemd nor node_exporter reads.
  const temporary = `${path}.tmp`
  rmSync(temporary, { force: true })
  try {
    const file = openSync(temporary, 'wx', READABLE_BY_ALL)
    try {
      writeFileSync(file, text)
      // Whatever the umask of this process is.
      fchmodSync(file, READABLE_BY_ALL)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  flushDirectory(dirname(path))
}
