import type { Drive } from '../drive/port.ts'
import { readFile, replaceFile } from '../drive/small-files.ts'
import { MANIFEST_NAME } from '../package/manifest.ts'

/** A backup in the index of its month. */
export interface IndexEntry {
  readonly backup_id: string
  /** The name of the archive beside the index. */
  readonly file: string
  readonly size: number
  readonly sha256: string
  readonly created_at: string
  readonly contents: readonly string[]
  readonly servers: readonly string[]
}

/** `MANIFEST.json` of a month on the drive (docs/specification.md, Nightly backup). */
interface MonthIndex {
  /** The server that has written it. */
  readonly host: string
  readonly format: 1
  readonly backups: readonly IndexEntry[]
}

const MAX_INDEX_BYTES = 16 * 1_024 ** 2

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

  /** Its entries; none when there is no index. `damaged` has the text of one that cannot be read. */
  async read(): Promise<{ readonly entries: readonly IndexEntry[]; readonly damaged?: string }> {
    const text = await readFile(this.#drive, this.#target(MANIFEST_NAME), MAX_INDEX_BYTES)
    if (text === undefined) return { entries: [] }
    const entries = entriesIn(text)
    return entries ? { entries } : { entries: [], damaged: text }
  }

  /**
   * Adds an entry, or replaces that of the same backup. A damaged index is kept under a name of its own, which is returned.
   */
  async put(entry: IndexEntry): Promise<string | undefined> {
    const first = await this.read()
    // Read again, because a bit may have flipped on the way.
    const { entries, damaged } = first.damaged === undefined ? first : await this.read()
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

/** Undefined when the text is no index. An entry is kept as it is, with members that this program does not know. */
function entriesIn(text: string): IndexEntry[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const { backups } = Object(value) as { readonly backups?: unknown }
  return Array.isArray(backups) && backups.every(isEntry) ? backups : undefined
}

function isEntry(value: unknown): value is IndexEntry {
  const { backup_id: id, file, size, sha256 } = Object(value) as Readonly<Record<string, unknown>>
  return [id, file, sha256].every((each) => typeof each === 'string') && typeof size === 'number'
}
