import { createHmac } from 'node:crypto'
import { systemRecord, type AuditRecord } from '../../kernel/audit.ts'
import { AppError } from '../../kernel/errors.ts'
import type { AuditTrail } from '../../ports/audit.ts'
import { SettledNumbers } from '../../store/numbers.ts'
import { readsAside, type Reads, type ServiceDeps } from '../../store/store.ts'
import {
  formatSeal,
  PAGE_ENTRIES,
  type AuditKey,
  type AuditKeys,
  type AuditSeal,
  type SealedRow,
} from './model.ts'
import {
  findNewestChanges,
  findNewestSealPage,
  findSealPageAfter,
  findSealPageWith,
  findTotalSealed,
  listSealedRows,
  listSealKeys,
  putSealPage,
  removeSealPage,
  type SealPage,
} from './store.ts'

/** The files of the seals, which lie beside the database. */
export interface AuditFiles {
  /** The keys, the newest first; makes one where there is none. */
  readOrCreateKeys(): AuditKeys
  /** Undefined where there is no key. */
  readKeys(): AuditKeys | undefined
  /** The newest seal that was made on this host. */
  readSeal(): AuditSeal | undefined
  /** Undefined removes it. */
  keepSeal(seal: AuditSeal | undefined): void
}

export interface SealDeps extends Pick<ServiceDeps, 'store' | 'clock' | 'logger'> {
  readonly trail: AuditTrail
  readonly files: AuditFiles
  /** How many rows a page has; {@link PAGE_ENTRIES} by default. */
  readonly pageEntries?: number
}

/** The first fault of a trail. */
export interface AuditFault {
  readonly fault:
    | 'changed'
    | 'removed'
    | 'put_in'
    | 'swapped'
    | 'seal_changed'
    | 'page_missing'
    | 'cut_off'
    | 'replaced'
    | 'key_unknown'
  /** The number of the row, or of the seal. */
  readonly seq?: number
  readonly page?: number
  readonly row?: SealedRow
  /** The row that stands in its place. */
  readonly other?: number
  readonly keyId?: string
  readonly seal?: AuditSeal
}

export interface AuditVerdict {
  readonly fault: AuditFault | undefined
  /** The rows that were compared with their codes. */
  readonly checked: number
  /** The rows behind the newest seal, which nothing protects yet. */
  readonly unsealed: number
  readonly newest: AuditSeal | undefined
}

const LOST_KEYS =
  'the file audit-key does not have the keys of former seals of the audit trail: append the lines of your copy, or of the host whose worker has made them'

const PRUNE = 'pruneAudit'

/** Makes the seals of the trail, compares the trail with them, and removes whole pages that are old. */
export class AuditSeals {
  readonly #deps: SealDeps
  readonly #settled: SettledNumbers
  #toldCut: string | undefined
  #hasLookedForKeys = false

  constructor(deps: SealDeps) {
    this.#deps = deps
    this.#settled = new SettledNumbers(deps.store.read, 'audit_entries')
  }

  /** Seals the rows that have no seal yet; returns how many rows were ever sealed. */
  async seal(signal: AbortSignal): Promise<number> {
    const { store, logger, files } = this.#deps
    const [key] = files.readOrCreateKeys()
    const through = await this.#settled.through()
    const isCut = await this.#reportCut()
    await this.#reportLostKeys()
    let newest: SealPage | undefined
    while (!signal.aborted) {
      const page = await this.#sealNext(key, through)
      if (!page) break
      newest = page
    }
    if (newest) {
      const seal = sealOf(newest)
      // The missing seal is the proof until a person has accepted the trail.
      if (!isCut) files.keepSeal(seal)
      logger.info({ seal: formatSeal(seal) }, 'the audit trail is sealed')
    }
    return newest?.total ?? (await findTotalSealed(store.read)) ?? 0
  }

  /** The newest seal; undefined before the first one. */
  async newest(): Promise<AuditSeal | undefined> {
    const page = await findNewestSealPage(this.#deps.store.read)
    return page && sealOf(page)
  }

  /** The ids of the keys with which pages were sealed, and which are not in the file of this host. */
  async lostKeys(): Promise<readonly string[]> {
    const known = new Set(this.#deps.files.readKeys()?.map(({ id }) => id))
    return (await listSealKeys(this.#deps.store.read)).filter((id) => !known.has(id))
  }

  /** Seals one page, or adds entries to the last page; undefined when nothing is left, or another worker was faster. */
  async #sealNext(key: AuditKey, through: number): Promise<SealPage | undefined> {
    const { store, pageEntries = PAGE_ENTRIES } = this.#deps
    const last = await findNewestSealPage(store.read)
    const open = last && last.keyId === key.id && last.codes.length < pageEntries ? last : undefined
    const after = last?.codes.at(-1)?.[0] ?? 0
    const rows = await listSealedRows(store.read, after, through, pageEntries - (open?.codes.length ?? 0))
    if (rows.length === 0) return undefined
    const added = codesOf(key, last ? sealOf(last).code : '', rows)
    const page: SealPage = {
      page: open?.page ?? (last?.page ?? 0) + 1,
      total: (last?.total ?? 0) + rows.length,
      newestAt: Math.max(open?.newestAt ?? 0, ...rows.map(({ at }) => at)),
      keyId: key.id,
      previous: open?.previous ?? (last ? sealOf(last).code : ''),
      codes: [...(open?.codes ?? []), ...added],
    }
    return (await store.write((tx) => putSealPage(tx, page, open))) ? page : undefined
  }

  /** The newest seal of this host, if the trail does not contain what it stands for: a cut or replaced trail, or a restored one. */
  async missingSeal(): Promise<AuditSeal | undefined> {
    const { store, files } = this.#deps
    const seal = files.readSeal()
    return seal && (await sealFault(store.read, seal)) && seal
  }

  /**
   * Ends {@link missingSeal}: from now on this host keeps the newest seal of the trail as it is, and the trail has the missing one.
   * Rejects with `seal_not_missing` for any other seal.
   */
  async accept(seal: AuditSeal, record: AuditRecord): Promise<AuditSeal | undefined> {
    const { store, trail, files } = this.#deps
    const missing = await this.missingSeal()
    if (!missing || formatSeal(missing) !== formatSeal(seal)) throw sealNotMissing(seal, missing)
    const newest = await this.newest()
    const kept = newest ? formatSeal(newest) : null
    const changes = { seal: [formatSeal(missing), kept] } as const
    await store.write((tx) => trail.record(tx, { ...record, changes }))
    files.keepSeal(newest)
    return newest
  }

  /** Said once for each seal. */
  async #reportCut(): Promise<boolean> {
    const seal = await this.missingSeal()
    if (!seal) return false
    const text = formatSeal(seal)
    if (this.#toldCut !== text) this.#deps.logger.error({ seal: text }, missingSealText(seal))
    this.#toldCut = text
    return true
  }

  /** Reports lost keys, once in each process. The worker continues with the key that it has. */
  async #reportLostKeys(): Promise<void> {
    if (this.#hasLookedForKeys) return
    const lost = await this.lostKeys()
    this.#hasLookedForKeys = true
    if (lost.length > 0) this.#deps.logger.error({ key_ids: lost.join(' ') }, LOST_KEYS)
  }

  /** Removes the sealed pages whose newest row is older, and records it; returns whether there may be more. */
  async prune(olderThan: number): Promise<boolean> {
    const { store, trail, files } = this.#deps
    return store.write(async (tx) => {
      const oldest = await findSealPageAfter(tx, 0)
      const next = oldest && (await findSealPageAfter(tx, oldest.page))
      // The newest page stays: the next seal continues it.
      if (!oldest || !next || oldest.newestAt >= olderThan) return false
      if (!(await removeSealPage(tx, oldest))) return false
      const [key] = files.readOrCreateKeys()
      await trail.record(tx, {
        ...systemRecord(PRUNE, { kind: 'audit', id: null }),
        changes: { first_page: [oldest.page, next.page], proof: [key.id, pruneCode(key, next)] },
      })
      return true
    })
  }

  /** Compares every row with its code, and the end with the seals that somebody has kept. Stops at the first fault. */
  async verify(kept: readonly AuditSeal[] = []): Promise<AuditVerdict> {
    const { store, files } = this.#deps
    const reads = readsAside(store)
    const ofHost = files.readSeal()
    const keys = files.readKeys() ?? []
    const first = await walkOnce(reads, keys)
    // The worker may have removed a page for its age meanwhile; a fault is there the second time, too.
    const { fault, walk } = first.fault ? await walkOnce(reads, keys) : first
    const { checked, end, newest } = walk
    const verdict = { checked, unsealed: await countAfter(reads, end), newest }
    if (fault) return { ...verdict, fault }
    for (const seal of ofHost ? [ofHost, ...kept] : kept) {
      const missing = await sealFault(reads, seal)
      if (missing) return { ...verdict, fault: missing }
    }
    return { ...verdict, fault: undefined }
  }
}

/** What it means that the trail does not contain the seal, and what to do; without a full stop. */
function missingSealText(seal: AuditSeal): string {
  const text = formatSeal(seal)
  return `the audit trail does not contain its newest seal ${text}: rows were removed at its end, or the database was replaced; find out by whom ("platform audit verify", seals in the log and in backups), then run: platform audit accept ${text}`
}

function sealNotMissing(seal: AuditSeal, missing: AuditSeal | undefined): AppError {
  const state = missing ? `it lacks ${formatSeal(missing)}` : 'it contains the newest seal of this host'
  const message = `The seal ${formatSeal(seal)} is not one that the audit trail lacks: ${state}.`
  return new AppError('conflict', 'seal_not_missing', message)
}

async function walkOnce(reads: Reads, keys: readonly AuditKey[]) {
  const walk = new SealWalk(reads, keys)
  return { walk, fault: await walk.run() }
}

/** One comparison of the trail with its seals, from the oldest page on. */
class SealWalk {
  readonly #reads: Reads
  readonly #keys: ReadonlyMap<string, AuditKey>
  checked = 0
  /** The number of the last sealed row. */
  end = 0
  newest: AuditSeal | undefined

  constructor(reads: Reads, keys: readonly AuditKey[]) {
    this.#reads = reads
    this.#keys = new Map(keys.map((key) => [key.id, key]))
  }

  async run(): Promise<AuditFault | undefined> {
    let last: SealPage | undefined
    for (;;) {
      const page = await findSealPageAfter(this.#reads, last?.page ?? 0)
      if (!page) return undefined
      const fault =
        (last ? orderFault(last, page) : await this.#startFault(page)) ?? (await this.#pageFault(page))
      if (fault) return fault
      last = page
      this.newest = sealOf(page)
    }
  }

  /** Pages are missing at the beginning only where the trail itself says that they were removed for their age. */
  async #startFault(first: SealPage): Promise<AuditFault | undefined> {
    const { page, total, codes } = first
    if (page === 1) return total === codes.length ? undefined : { fault: 'seal_changed', page }
    const text = await findNewestChanges(this.#reads, PRUNE)
    const { proof = [] } = JSON.parse(text ?? '{}') as { proof?: readonly string[] }
    const [keyId = '', code] = proof
    const key = this.#keys.get(keyId)
    return key && pruneCode(key, first) === code ? undefined : { fault: 'page_missing', page: page - 1 }
  }

  async #pageFault(page: SealPage): Promise<AuditFault | undefined> {
    const key = this.#keys.get(page.keyId)
    if (!key) return { fault: 'key_unknown', page: page.page, keyId: page.keyId }
    const through = page.codes.at(-1)?.[0] ?? this.end
    // One row more than the page should have: it shows the first inserted row.
    const rows = await listSealedRows(this.#reads, this.end, through, page.codes.length + 1)
    let previous = page.previous
    for (const [index, [seq, code]] of page.codes.entries()) {
      const row = rows[index]
      if (!row || row.seq > seq) return { fault: 'removed', seq }
      if (row.seq < seq) return { fault: 'put_in', seq: row.seq, row }
      if (rowCode(key, previous, row) !== code) return rowFault(key, previous, row, code, rows)
      previous = code
      this.checked++
    }
    const extra = rows[page.codes.length]
    if (extra) return { fault: 'put_in', seq: extra.seq, row: extra }
    this.end = through
    return undefined
  }
}

// RFC 2104, section 5: half of the hash is enough.
const CODE_BYTES = 16

/** The code of an entry, which depends on all entries before it. */
function rowCode(key: AuditKey, previous: string, row: SealedRow): string {
  const values = [
    row.id,
    row.at,
    row.actorId,
    row.actorName,
    row.actorKind,
    row.operation,
    row.targetKind,
    row.targetId,
    row.requestId,
    row.remoteAddress,
    row.changes,
    row.outcome,
  ]
  return codeOf(key, `${previous}\n${JSON.stringify(values)}`)
}

/** Proves that whoever has the key has removed the pages before this one. */
function pruneCode(key: AuditKey, { page, previous }: SealPage): string {
  return codeOf(key, `pruned\n${page}\n${previous}`)
}

function codeOf({ bytes }: AuditKey, text: string): string {
  return createHmac('sha256', bytes).update(text).digest().subarray(0, CODE_BYTES).toString('base64url')
}

/** A row without its code: either another row of the page has the code, or none. */
function rowFault(
  key: AuditKey,
  previous: string,
  row: SealedRow,
  code: string,
  rows: readonly SealedRow[],
): AuditFault {
  const other = rows.find((each) => rowCode(key, previous, each) === code)
  return other
    ? { fault: 'swapped', seq: row.seq, row, other: other.seq }
    : { fault: 'changed', seq: row.seq, row }
}

function orderFault(last: SealPage, page: SealPage): AuditFault | undefined {
  if (page.page !== last.page + 1) return { fault: 'page_missing', page: last.page + 1 }
  const follows = page.previous === sealOf(last).code && page.total === last.total + page.codes.length
  return follows ? undefined : { fault: 'seal_changed', page: page.page }
}

/** Checks whether the trail still has the sealed entries. Entries that were removed because of their age do not count. */
async function sealFault(reads: Reads, seal: AuditSeal): Promise<AuditFault | undefined> {
  const page = await findSealPageWith(reads, seal.total)
  if (!page) return { fault: 'cut_off', seal }
  const position = seal.total - (page.total - page.codes.length)
  if (position <= 0) return undefined
  return page.codes[position - 1]?.[1] === seal.code ? undefined : { fault: 'replaced', seal }
}

async function countAfter(reads: Reads, end: number): Promise<number> {
  let count = 0
  for (let after = end; ;) {
    const rows = await listSealedRows(reads, after, Number.MAX_SAFE_INTEGER, PAGE_ENTRIES)
    count += rows.length
    const last = rows.at(-1)
    if (!last || rows.length < PAGE_ENTRIES) return count
    after = last.seq
  }
}

function codesOf(key: AuditKey, previous: string, rows: readonly SealedRow[]): [number, string][] {
  let code = previous
  return rows.map((row) => {
    code = rowCode(key, code, row)
    return [row.seq, code]
  })
}

function sealOf({ total, codes }: SealPage): AuditSeal {
  return { total, code: codes.at(-1)?.[1] ?? '' }
}
