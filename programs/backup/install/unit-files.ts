import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { flushDirectory, READABLE_BY_ALL, replaceFile } from '../../files/replace-file.ts'
import type { InstalledEntry } from './entry.ts'
import type { TargetRoot } from './target-root.ts'
import { authorshipOf, type Authorship } from './unit-text.ts'
import type { Unit } from './units.ts'

export const UNIT_DIRECTORY = '/etc/systemd/system'

const LEFT_NOTES: Readonly<Record<Exclude<FileState, 'absent' | 'unchanged'>, string>> = {
  changed: 'changed by hand',
  foreign: 'not written by this command',
  special: 'masked, or a link',
}

type FileState = Authorship | 'absent' | 'special'

/** The unit files of a target. A file that a person has changed is never touched. */
export class UnitFiles {
  readonly #root: TargetRoot

  constructor(root: TargetRoot) {
    this.#root = root
  }

  write({ name, text }: Unit): InstalledEntry {
    const path = this.#pathOf(name)
    const state = stateOf(path)
    if (state === 'absent') return this.#replace(path, text, 'written')
    if (state !== 'unchanged') return { path, result: 'left', note: LEFT_NOTES[state] }
    if (readFileSync(path, 'utf8') === text) return { path, result: 'unchanged' }
    return this.#replace(path, text, 'replaced')
  }

  /** Undefined when there is none. */
  remove(name: string): InstalledEntry | undefined {
    const path = this.#pathOf(name)
    const state = stateOf(path)
    if (state === 'absent') return undefined
    if (state !== 'unchanged') return { path, result: 'left', note: LEFT_NOTES[state] }
    rmSync(path)
    flushDirectory(dirname(path))
    return { path, result: 'removed' }
  }

  /** Whether the file is one that `install` wrote, changed or not. */
  isOwn(name: string): boolean {
    return ['unchanged', 'changed'].includes(stateOf(this.#pathOf(name)))
  }

  /** Enables a unit of an image, as `systemctl enable` does. */
  link({ name, wantedBy = '' }: Unit): InstalledEntry {
    const path = this.#linkOf(name, wantedBy)
    if (isLink(path)) return { path, result: 'unchanged' }
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(join(UNIT_DIRECTORY, name), path)
    flushDirectory(dirname(path))
    return { path, result: 'enabled' }
  }

  /** Disables a unit of an image. Undefined when it was not enabled. */
  unlink({ name, wantedBy = '' }: Unit): InstalledEntry | undefined {
    const path = this.#linkOf(name, wantedBy)
    if (!isLink(path) || readlinkSync(path) !== join(UNIT_DIRECTORY, name)) return undefined
    rmSync(path)
    return { path, result: 'removed' }
  }

  /** The drop-ins of a person for a unit. */
  dropIns(name: string): InstalledEntry[] {
    const directory = `${this.#pathOf(name)}.d`
    return listDirectory(directory).map((file) => ({
      path: join(directory, file),
      result: 'left',
      note: 'written by hand',
    }))
  }

  #pathOf(name: string): string {
    return this.#root.locate(join(UNIT_DIRECTORY, name))
  }

  #linkOf(name: string, target: string): string {
    return this.#root.locate(join(UNIT_DIRECTORY, `${target}.wants`, name))
  }

  #replace(path: string, text: string, result: InstalledEntry['result']): InstalledEntry {
    mkdirSync(dirname(path), { recursive: true })
    replaceFile(path, text, READABLE_BY_ALL)
    return { path, result }
  }
}

function stateOf(path: string): FileState {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return 'absent'
  return stats.isFile() ? authorshipOf(readFileSync(path, 'utf8')) : 'special'
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

function listDirectory(directory: string): string[] {
  return lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(directory).sort() : []
}
