import { readIndex, type IndexEntry, type ReadIndex } from '../drive/index-entries.ts'
import type { Drive } from '../drive/port.ts'
import { replaceFile } from '../drive/small-files.ts'
import { MANIFEST_NAME } from '../package/manifest.ts'

/** `MANIFEST.json` of a month on the drive (docs/specification.md, Nightly backup). */
interface MonthIndex {
  /** The server that has written it. */
  readonly host: string
  readonly format: 1
  readonly backups: readonly IndexEntry[]
}

/** The index of one month on the drive, which is replaced as a whole. */
export class RemoteIndex {
  readonly #drive: Drive
  readonly #folderId: string
  readonly #host: string

  constructor(drive: Drive, folderId: string, host: string) {
    this.#drive = drive
    this.#folderId = folderId
    this.#host = host
  }

  /** Its entries; none when there is no index, or a damaged one. */
  async read(): Promise<ReadIndex> {
    return (await readIndex(this.#drive, this.#folderId)) ?? { entries: [] }
  }

  /**
   * Adds an entry, or replaces that of the same backup. A damaged index is kept under a name of its own, which is returned.
   */
  async put(entry: IndexEntry): Promise<string | undefined> {
    const { entries, damaged } = await this.read()
    const keptAs = damaged === undefined ? undefined : `MANIFEST.damaged-${entry.backup_id}.json`
    if (keptAs !== undefined) await replaceFile(this.#drive, this.#target(keptAs), damaged ?? '')
    await this.#write([...entries.filter((each) => each.backup_id !== entry.backup_id), entry])
    return keptAs
  }

  async remove(backupId: string): Promise<void> {
    const { entries } = await this.read()
    const others = entries.filter((each) => each.backup_id !== backupId)
    if (others.length < entries.length) await this.#write(others)
  }

  async #write(entries: readonly IndexEntry[]): Promise<void> {
    const backups = entries.toSorted((a, b) => (a.backup_id < b.backup_id ? -1 : 1))
    const index: MonthIndex = { host: this.#host, format: 1, backups }
    await replaceFile(this.#drive, this.#target(MANIFEST_NAME), `${JSON.stringify(index, null, 2)}\n`)
  }

  #target(name: string) {
    return { folderId: this.#folderId, name }
  }
}
