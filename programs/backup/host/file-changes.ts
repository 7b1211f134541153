import { closeSync, constants, openSync, rmdirSync, unlinkSync, writeSync } from 'node:fs'
import type { OpenDirectory } from './open-directory.ts'

/** The changes of files that cleaning makes. A dry run has another implementation. Each throws the system's error. */
export interface FileChanges {
  /** Removes an entry that is no directory; a link itself, never what it leads to. */
  removeFile(directory: OpenDirectory, name: Buffer): void
  /** Removes an empty directory. */
  removeDirectory(directory: OpenDirectory, name: Buffer): void
  /** Writes to a file that exists. */
  write(path: string, text: string): void
}

export const hostFileChanges: FileChanges = {
  removeFile: (directory, name) => unlinkSync(directory.at(name)),
  removeDirectory: (directory, name) => rmdirSync(directory.at(name)),
  write(path, text) {
    const file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW)
    try {
      writeSync(file, text)
    } finally {
      closeSync(file)
    }
  },
}

/** Prints one line for each change instead of making it. */
export function dryRunFileChanges(print: (line: string) => void): FileChanges {
  const removal = (directory: OpenDirectory, name: Buffer) =>
    print(`would remove ${JSON.stringify(directory.pathOf(name))}`)
  return {
    removeFile: removal,
    removeDirectory: removal,
    write: (path, text) => print(`would write ${text.trim()} to ${path}`),
  }
}
