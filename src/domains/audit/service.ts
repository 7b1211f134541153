import { changesBetween, systemRecord, type AuditRecord } from '../../kernel/audit.ts'
import { AppError, errorMessage } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { TokenBucket } from '../../kernel/waiting.ts'
import type { AuditTrail } from '../../ports/audit.ts'
import { readsAside, type ServiceDeps, type Tx } from '../../store/store.ts'
import type { TrailEntry } from './model.ts'
import {
  findEntryOfActor,
  findProcessSettings,
  insertEntry,
  listEntries,
  saveProcessSettings,
  type EntryFilter,
} from './store.ts'

export type AuditDeps = Pick<ServiceDeps, 'store' | 'clock' | 'logger'>

export interface TrailFilter {
  /** The id of an actor, or a name. */
  readonly actor?: string
  readonly operation?: string
  readonly target?: { readonly kind: string; readonly id: string }
}

/** Makes codes of settings, which tell that a value has changed, and not what it is. */
export interface SettingsKey {
  readonly id: string
  readonly hash: (value: string) => string
}

// docs/specification.md, Audit: a stranger, or a program that may not do what it tries, must not fill the disk.
const NOTES_AT_ONCE = 600
const NOTE_EVERY_MS = 100
const LONGEST_TEXT = 256
const LONGEST_CHANGES = 8_192

/** The audit trail: rows are added, listed, and removed page by page when they are old. */
export class Audit implements AuditTrail {
  readonly #deps: AuditDeps
  readonly #notes: TokenBucket
  #unwritten = 0

  constructor(deps: AuditDeps) {
    this.#deps = deps
    this.#notes = new TokenBucket({ burst: NOTES_AT_ONCE, everyMs: NOTE_EVERY_MS }, () =>
      deps.clock.monotonic(),
    )
  }

  record(tx: Tx, record: AuditRecord): Promise<void> {
    return recordEntry(tx, record, this.#deps.clock.now())
  }

  async note(record: AuditRecord): Promise<void> {
    if (this.#notes.take() > 0) {
      this.#unwritten++
      return
    }
    const unwritten = this.#unwritten
    this.#unwritten = 0
    const changes = unwritten > 0 ? { unwritten_before: [0, unwritten] as const } : record.changes
    try {
      await this.#deps.store.write((tx) => this.record(tx, { ...record, changes }))
    } catch (error) {
      this.#unwritten += unwritten + 1
      // While the platform is read-only nothing can be written, which its log reports.
      if (error instanceof AppError && error.code === 'read_only') return
      const { operation, outcome } = record
      this.#deps.logger.warn(
        { operation, outcome, reason: errorMessage(error) },
        'a record of the audit trail could not be written',
      )
    }
  }

  /** Newest first. */
  async list(filter: TrailFilter, page: PageRequest): Promise<Page<TrailEntry>> {
    const reads = readsAside(this.#deps.store)
    return listEntries(reads, await this.#rowFilter(filter), page)
  }

  /** Everything that the filter names, in parts; in the order of the page. */
  async *all(filter: TrailFilter, page: PageRequest): AsyncGenerator<readonly TrailEntry[], void> {
    let next: Page<TrailEntry>['next'] | undefined
    do {
      const part: Page<TrailEntry> = await this.list(filter, { ...page, ...(next && { after: next }) })
      yield part.items
      next = part.next
    } while (next)
  }

  /**
   * Records which settings of a process differ from those of its last start. Only codes of the values are kept and written;
   * the first key makes new ones, the others those of earlier starts.
   */
  async recordSettings(
    process: string,
    settings: readonly { readonly key: string; readonly value: string }[],
    keys: readonly [SettingsKey, ...SettingsKey[]],
  ): Promise<void> {
    const codesBy = ({ hash }: SettingsKey) =>
      Object.fromEntries(settings.map(({ key, value }) => [key, hash(value)]))
    const [newest] = keys
    await this.#deps.store.write(async (tx) => {
      const known = await findProcessSettings(tx, process)
      const used = keys.find(({ id }) => id === known?.keyId)
      const former = used && known?.hashes
      const codes = codesBy(used ?? newest)
      const differing = changesBetween(former, codes)
      const isSame = Object.keys(differing).length === 0
      if (isSame && used === newest) return
      await saveProcessSettings(tx, { process, keyId: newest.id, hashes: codesBy(newest) })
      if (isSame) return
      const all = (values: object | undefined) =>
        values ? (used ?? newest).hash(JSON.stringify(values)) : null
      const changes = { all: [all(former), all(codes)] as const, ...(former && differing) }
      await this.record(tx, { ...systemRecord('start', { kind: 'settings', id: process }), changes })
    })
  }

  async #rowFilter({ actor, operation, target }: TrailFilter): Promise<EntryFilter> {
    const isId = actor !== undefined && (await findEntryOfActor(this.#deps.store.read, actor)) !== undefined
    return {
      ...(actor !== undefined && (isId ? { actorId: actor } : { actorName: actor })),
      ...(operation !== undefined && { operation }),
      ...(target && { targetKind: target.kind, targetId: target.id }),
    }
  }
}

/** Adds a row in the transaction of its change. */
export async function recordEntry(
  tx: Tx,
  { actor, target, ...record }: AuditRecord,
  at: number,
): Promise<void> {
  await insertEntry(tx, {
    ...record,
    id: newId(),
    at,
    actorId: plain(actor.id),
    actorName: plain(actor.name),
    actorKind: actor.kind,
    targetKind: target.kind,
    targetId: target.id === null ? null : plain(target.id),
    requestId: record.requestId === null ? null : plain(record.requestId),
    changes: boundedChanges(record.changes),
  })
}

/** A text that every database takes. */
function plain(text: string): string {
  return text.toWellFormed().replaceAll('\0', '').slice(0, LONGEST_TEXT)
}

/** The fields that there is room for; the others by their number. */
function boundedChanges(changes: AuditRecord['changes']): AuditRecord['changes'] {
  if (JSON.stringify(changes).length <= LONGEST_CHANGES) return changes
  let room = LONGEST_CHANGES
  const all = Object.entries(changes)
  const kept = all.filter((field) => {
    room -= JSON.stringify(field).length
    return room >= 0
  })
  return { ...Object.fromEntries(kept), left_out: [0, all.length - kept.length] }
}
