import type { Clock } from '../../src/kernel/clock.ts'
import { Refusal } from '../mock-server/answers.ts'
import { apiError } from './answers.ts'
import type { Blobs } from './blobs.ts'
import { ROOT_ID, type Entry, type NameMode, type StoredPart } from './entries.ts'
import { randomId } from '../mock-server/random-text.ts'

// A client that creates folders for ever must not exhaust the memory.
const MAX_ENTRIES = 100_000

type NewEntry = Pick<Entry, 'driveId' | 'parentId' | 'name' | 'type'> &
  Partial<Pick<Entry, 'fileId' | 'size' | 'sha1' | 'preHash' | 'parts'>>

/** The files and folders of the drive. */
export class FileTree {
  readonly #clock: Clock
  readonly #blobs: Blobs
  readonly #entries = new Map<string, Entry>()

  constructor(clock: Clock, blobs: Blobs) {
    this.#clock = clock
    this.#blobs = blobs
  }

  all(): Entry[] {
    return [...this.#entries.values()]
  }

  restore(entries: readonly Entry[]): void {
    for (const entry of entries) this.#entries.set(entry.fileId, entry)
  }

  /** Undefined for an entry in the recycle bin, too. */
  find(fileId: string): Entry | undefined {
    const entry = this.#entries.get(fileId)
    return entry && !this.#isInRecycleBin(entry) ? entry : undefined
  }

  /** The entry, or a refusal with 404. An entry in the recycle bin is refused with 403. */
  require(fileId: string): Entry {
    const entry = this.#entries.get(fileId)
    if (!entry) throw new Refusal(apiError(404, 'NotFound.FileId', 'There is no file with this file_id.'))
    if (this.#isInRecycleBin(entry))
      throw new Refusal(apiError(403, 'ForbiddenFileInTheRecycleBin', 'The file is in the recycle bin.'))
    return entry
  }

  /** The entry with this id, even if it is in the recycle bin. */
  requireAny(fileId: string): Entry {
    return this.#entries.get(fileId) ?? this.require(fileId)
  }

  /** Refuses a parent that does not exist or is a file. */
  requireFolder(fileId: string): void {
    if (fileId === ROOT_ID) return
    const entry = this.#entries.get(fileId)
    if (entry?.type !== 'folder')
      throw new Refusal(
        apiError(400, 'InvalidResource.ParentFileId', 'The parent_file_id is not the id of a folder.'),
      )
    this.require(fileId)
  }

  childrenOf(parentId: string): Entry[] {
    return this.all().filter((entry) => entry.parentId === parentId && !entry.isInRecycleBin)
  }

  /** The entry of that name; of several, the oldest. */
  childNamed(parentId: string, name: string): Entry | undefined {
    return this.childrenOf(parentId).find((entry) => entry.name === name)
  }

  /** The entry at a path such as `/a/b.json`. */
  atPath(path: string): Entry | undefined {
    let entry: Entry | undefined
    for (const name of path.split('/').filter((each) => each !== '')) {
      entry = this.childNamed(entry?.fileId ?? ROOT_ID, name)
      if (!entry) return undefined
    }
    return entry
  }

  fileWithContent(sha1: string): Entry | undefined {
    return this.all().find((entry) => entry.type === 'file' && entry.sha1 === sha1)
  }

  hasPreHash(preHash: string): boolean {
    return this.all().some((entry) => entry.type === 'file' && entry.preHash === preHash)
  }

  create({ fileId = randomId(), size = 0, sha1 = '', preHash = '', parts = [], ...entry }: NewEntry): Entry {
    if (this.#entries.size >= MAX_ENTRIES)
      throw new Refusal(
        apiError(403, 'ExceedCapacityForbidden', `The drive holds at most ${MAX_ENTRIES} files.`),
      )
    const now = this.#clock.now()
    const created: Entry = {
      ...entry,
      fileId,
      size,
      sha1,
      preHash,
      parts,
      createdAt: now,
      updatedAt: now,
      isInRecycleBin: false,
      isStarred: false,
    }
    this.#entries.set(fileId, created)
    return created
  }

  /** A name that no other entry of the folder has: `a.txt`, `a(1).txt`, … */
  freeName(parentId: string, name: string): string {
    const taken = new Set(this.childrenOf(parentId).map((entry) => entry.name))
    const dot = name.lastIndexOf('.') > 0 ? name.lastIndexOf('.') : name.length
    let free = name
    for (let number = 1; taken.has(free); number++)
      free = `${name.slice(0, dot)}(${number})${name.slice(dot)}`
    return free
  }

  /** The name of a new entry. */
  nameFor({ parentId, name }: Pick<Entry, 'parentId' | 'name'>, mode: NameMode): string {
    return mode === 'auto_rename' ? this.freeName(parentId, name) : name
  }

  touch(entry: Entry): void {
    entry.updatedAt = this.#clock.now()
  }

  /** Whether `entry` is the folder itself or inside of it. */
  isWithin(entryId: string, folderId: string): boolean {
    for (let id = entryId; id !== ROOT_ID;) {
      if (id === folderId) return true
      id = this.#entries.get(id)?.parentId ?? ROOT_ID
    }
    return false
  }

  /** Deletes the entry, and everything in it when it is a folder. */
  delete(entry: Entry): void {
    const doomed = this.all().filter((each) => this.isWithin(each.fileId, entry.fileId))
    for (const { fileId } of doomed) this.#entries.delete(fileId)
    this.#removeBlobs(doomed.flatMap(({ parts }) => parts))
  }

  /** Removes blobs that no other file uses: rapid uploads and copies share their content. */
  #removeBlobs(parts: readonly StoredPart[]): void {
    if (parts.length === 0) return
    const used = new Set(this.all().flatMap((entry) => entry.parts.map(({ blob }) => blob)))
    for (const { blob } of parts) if (!used.has(blob)) this.#blobs.remove(blob)
  }

  #isInRecycleBin(entry: Entry): boolean {
    for (let each: Entry | undefined = entry; each; each = this.#entries.get(each.parentId))
      if (each.isInRecycleBin) return true
    return false
  }

  /** Bytes of all files; content that several files share counts for each. */
  usedBytes(): number {
    return this.all().reduce((sum, { size }) => sum + size, 0)
  }

  async *read({ parts }: Entry, start: number, end: number): AsyncIterable<Uint8Array> {
    let at = 0
    for (const { blob, size } of parts) {
      const [from, to] = [Math.max(start, at), Math.min(end, at + size)]
      if (from < to) yield* this.#blobs.read(blob, from - at, to - at)
      at += size
    }
  }
}
