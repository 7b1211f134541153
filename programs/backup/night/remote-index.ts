import { newId } from '../../../src/kernel/ids.ts'
import { indexFiles, readIndex, type IndexEntry, type ReadIndex } from '../drive/index-entries.ts'
import type { Drive } from '../drive/port.ts'
import { writeFile } from '../drive/stored-files.ts'
import { MANIFEST_NAME } from '../package/manifest.ts'

/** `MANIFEST.json` of a month on the drive (docs/specification.md, Nightly backup). */
interface MonthIndex {
  /** The server that has written it. */
  readonly host: string
  readonly format: 1
  /**
   * Makes the contents of all index files different: the drive would keep an old file with the same content, which another
   * writer may be about to delete.
   */
  readonly revision: string
  readonly backups: readonly IndexEntry[]
}

type Change = (entries: readonly IndexEntry[]) => readonly IndexEntry[]

// Each attempt merges the index into one file again after another server has written at the same time. The next change
// tries it, too.
const ATTEMPTS = 3

/** The index of one month on the drive, which is replaced as a whole. Another server may do that at the same time. */
export class RemoteIndex {
  readonly #drive: Drive
  readonly #folderId: string
  readonly #host: string

  constructor(drive: Drive, folderId: string, host: string) {
    this.#drive = drive
    this.#folderId = folderId
    this.#host = host
  }

  /** The entries of the index; none if it is missing or damaged. */
  async read(): Promise<ReadIndex> {
    return (await readIndex(this.#drive, this.#folderId)) ?? { entries: [], files: [], damaged: [] }
  }

  /**
   * Adds an entry in place of those that `isReplaced` names. A damaged index is kept under a name of its own, which is
   * returned.
   */
  async put(entry: IndexEntry, isReplaced: (entry: IndexEntry) => boolean): Promise<string | undefined> {
    const { damaged } = await this.read()
    const keptAs = damaged.length === 0 ? undefined : `MANIFEST.damaged-${entry.backup_id}.json`
    if (keptAs !== undefined)
      for (const text of damaged) await writeFile(this.#drive, this.#target(keptAs), text)
    await this.#change((entries) => [...entries.filter((each) => !isReplaced(each)), entry])
    return keptAs
  }

  async remove(isRemoved: (entry: IndexEntry) => boolean): Promise<void> {
    const { entries } = await this.read()
    if (entries.some(isRemoved)) await this.#change((all) => all.filter((each) => !isRemoved(each)))
  }

  /**
   * The index is the union of its files. Only files are deleted whose entries are in a new one, so no interleaving with
   * another writer loses an entry.
   */
  async #change(change: Change): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { entries, files } = await this.read()
      await this.#write(change(entries))
      for (const file of files) await this.#drive.delete(file.fileId)
      if ((await indexFiles(this.#drive, this.#folderId)).length === 1) return
    }
  }

  #write(entries: readonly IndexEntry[]) {
    const backups = entries.toSorted((a, b) => (a.backup_id < b.backup_id ? -1 : 1))
    const index: MonthIndex = { host: this.#host, format: 1, revision: newId(), backups }
    return writeFile(this.#drive, this.#target(MANIFEST_NAME), `${JSON.stringify(index, null, 2)}\n`)
  }

  #target(name: string) {
    return { folderId: this.#folderId, name }
  }
}
