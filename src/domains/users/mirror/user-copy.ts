import type { Clock } from '../../../kernel/clock.ts'
import { AppError } from '../../../kernel/errors.ts'
import type { Counter, Metrics } from '../../../kernel/metrics.ts'
import { Secret } from '../../../kernel/secret.ts'
import { END_REASONS } from '../../../ports/session-registry.ts'
import type { MirroredUser, UserChanges } from '../../../ports/user-source.ts'
import type { Store, Tx } from '../../../store/store.ts'
import { nameKey, type User } from '../model.ts'
import type { UserDeps, Users } from '../service.ts'
import { deleteUser, hasUsers, lockUser } from '../store.ts'
import { copyOf, type MirrorState } from './model.ts'
import { findNamesake, listIds, lockState, readState, writeCopy, writeState } from './store.ts'

export interface UserCopyDeps {
  readonly store: Store
  readonly clock: Clock
  readonly metrics: Metrics
  readonly sessions: UserDeps['sessions']
  readonly users: Pick<Users, 'announce'>
}

const CHANGES = ['written', 'deleted'] as const
type Change = (typeof CHANGES)[number]

// No password has this hash: only the primary checks passwords.
const NO_HASH = new Secret('none')
// Other writes run between two batches.
const BATCH = 500

/** The users of a primary, in the database of its standby. */
export class UserCopy {
  readonly #deps: UserCopyDeps
  readonly #source: string
  readonly #changes: Counter

  constructor(deps: UserCopyDeps, source: string) {
    this.#deps = deps
    this.#source = source
    this.#changes = mirrorChangesCounter(deps.metrics)
  }

  state(): Promise<MirrorState> {
    return readState(this.#deps.store.read)
  }

  /**
   * Stores the pages of one exchange. Users who were disabled, deleted or changed lose their sessions in the transaction
   * that stores the change. Rejects with `not_a_standby` when the database has users of its own, and with
   * `mirror_conflict` when another process copies, too.
   */
  async store(pages: AsyncIterable<UserChanges>): Promise<void> {
    let { revision } = await this.state()
    let seen: Set<string> | undefined
    for await (const page of pages) {
      if (page.full) seen = new Set()
      for (const { id } of page.items) seen?.add(id)
      const next = seen ? revision : page.revision
      await this.#write(revision, async (tx, state) => {
        if (state.source === null && (await hasUsers(tx))) throw notAStandby()
        await this.#storeItems(tx, page.items)
        return { ...state, source: this.#source, pool: page.pool, revision: next }
      })
      if (seen && !page.more) await this.#endFullCopy(revision, page.revision, seen)
      revision = seen && page.more ? revision : page.revision
    }
  }

  /** Records that the copy was current at this time. */
  async confirm(at: number): Promise<void> {
    await this.#deps.store.write(async (tx) => writeState(tx, { ...(await lockState(tx)), confirmedAt: at }))
  }

  async #endFullCopy(revision: number | null, next: number, seen: ReadonlySet<string>): Promise<void> {
    const missing = (await listIds(this.#deps.store.read)).filter(({ id }) => !seen.has(id))
    for (let start = 0; start < missing.length; start += BATCH) {
      const batch = missing.slice(start, start + BATCH)
      await this.#write(revision, async (tx, state) => {
        for (const { id } of batch) await this.#delete(tx, id)
        return state
      })
    }
    await this.#write(revision, async (_tx, state) => ({ ...state, revision: next }))
  }

  /** Another process that stores changes, too, has changed the revision: its users may be newer. */
  #write(revision: number | null, work: (tx: Tx, state: MirrorState) => Promise<MirrorState>): Promise<void> {
    return this.#deps.store.write(async (tx) => {
      const state = await lockState(tx)
      if (state.revision !== revision) throw concurrentCopy()
      await writeState(tx, await work(tx, state))
    })
  }

  async #storeItems(tx: Tx, items: readonly MirroredUser[]): Promise<void> {
    for (const item of items) {
      if (item.deleted) await this.#delete(tx, item.id)
      else await this.#storeOne(tx, item)
    }
  }

  async #storeOne(tx: Tx, item: MirroredUser): Promise<void> {
    const known = await lockUser(tx, item.id)
    const user = copyOf(item, known, this.#deps.clock.now())
    if (user === known) return
    // A name passes to another user after a deletion that comes with a later page.
    const key = nameKey(user.name)
    const namesake = await findNamesake(tx, user.id, key)
    if (namesake) await this.#delete(tx, namesake.id)
    await writeCopy(tx, { ...user, nameKey: key, passwordHash: NO_HASH })
    if (known && endsTokens(known, user))
      await this.#deps.sessions.endOf(tx, user.id, END_REASONS.user_changed_on_primary)
    this.#announce(tx, user.id, 'written')
  }

  async #delete(tx: Tx, id: string): Promise<void> {
    if (!(await lockUser(tx, id))) return
    await deleteUser(tx, id)
    await this.#deps.sessions.endOf(tx, id, END_REASONS.user_deleted_on_primary)
    this.#announce(tx, id, 'deleted')
  }

  #announce(tx: Tx, id: string, change: Change): void {
    this.#deps.users.announce(tx, id, `user ${change} as on the primary`)
    tx.afterCommit(() => this.#changes.increment({ change }))
  }
}

/** Registered on every platform, so that its name is known before the first change. */
export function mirrorChangesCounter(metrics: Metrics): Counter {
  return metrics.counter({
    name: 'mirror_changes_total',
    help: 'Users that a standby has written or deleted as its primary did.',
    labels: { change: CHANGES },
  })
}

function endsTokens(known: User, user: User): boolean {
  return !user.enabled || known.tokenGeneration !== user.tokenGeneration
}

function notAStandby(): AppError {
  const message =
    'gateway.mirror_from: the database has users of its own, which the users of the primary would replace; use a new ' +
    'database for a standby, or share the database of the primary without gateway.mirror_from.'
  return new AppError('invalid', 'not_a_standby', message)
}

function concurrentCopy(): AppError {
  const message = 'Another process copies the users of the primary into this database.'
  return new AppError('unavailable', 'mirror_conflict', message)
}
