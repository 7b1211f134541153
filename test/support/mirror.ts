import { readChanges } from '../../src/domains/users/change-log.ts'
import { MirrorFollower } from '../../src/domains/users/mirror/follower.ts'
import { UserCopy } from '../../src/domains/users/mirror/user-copy.ts'
import { Users } from '../../src/domains/users/index.ts'
import { createPasswords } from '../../src/infra/passwords/pbkdf2.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import type { UserChanges, UserSource, UserSourceFailure } from '../../src/ports/user-source.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Queries, Store } from '../../src/store/store.ts'
import { fakeClock } from './clock.ts'
import { repeatingStore, testStore } from './store.ts'
import { NO_SESSIONS, usersOf } from './users.ts'
import { fakeWaitingClock } from './waiting-clock.ts'

export const PASSWORD = 'a heavy brass telescope'
export const PRIMARY_POOL = '100.64.0.0/17'
export const STANDBY_POOL = '100.64.128.0/17'
const FROM = 'http://10.0.0.1:9600'

export function primaryUsersOf(store: Store, clock: Clock) {
  const passwords = createPasswords({ iterations: 1, queueLimit: 1_000 })
  return usersOf(store, new Users({ store, clock, logger: silentLogger, passwords, sessions: NO_SESSIONS }))
}

/** The source of a primary whose answers a test can change. */
class TestSource implements UserSource {
  queries: Queries
  pool = PRIMARY_POOL
  limit = 1_000
  failure: UserSourceFailure | undefined
  readonly asked: (number | undefined)[] = []

  constructor(queries: Queries) {
    this.queries = queries
  }

  async changesSince(revision: number | undefined): ReturnType<UserSource['changesSince']> {
    this.asked.push(revision)
    if (this.failure) return this.failure
    const changes = await readChanges(this.queries, revision, this.limit)
    return { outcome: 'changes', changes: { ...changes, pool: this.pool } }
  }

  close(): void {}
}

/** The primary with its users, and the database of a standby that copies them. */
export async function mirrorWorld(dialect: DialectName) {
  await using opening = new AsyncDisposableStack()
  const clock = fakeWaitingClock()
  const primary = opening.use(await testStore('sqlite', clock))
  const standby = opening.use(await testStore(dialect, clock))
  const ended: string[] = []
  const changed: string[] = []
  const source = new TestSource(primary.store.read)
  const users = primaryUsersOf(primary.store, clock)
  const shared = { clock, logger: silentLogger, metrics: noMetrics }
  const sessions = { endOf: async (_tx: unknown, id: string) => void ended.push(id) }
  const passwords = createPasswords({ iterations: 1 })
  const copies = new Users({ ...shared, store: standby.store, passwords, sessions, primary: FROM })
  copies.onUserChanged((id) => void changed.push(id))
  const copyOn = (store: Store) => new UserCopy({ ...shared, store, sessions, users: copies }, FROM)
  const copy = copyOn(repeatingStore(standby.store))
  const followerWith = (maxAgeMs: number) =>
    new MirrorFollower({ ...shared, source, copy, pool: STANDBY_POOL, maxAgeMs })
  const opened = opening.move()
  return {
    clock,
    users,
    source,
    copies,
    copy,
    copyOn,
    followerWith,
    store: standby.store,
    primaryStore: primary.store,
    /** The users whose sessions were ended, and those of whom the listeners heard. */
    ended,
    changed,
    /** One exchange that begins after this revision. */
    exchange: async (since?: number) => copy.store(pagesOf(source, since)),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function* pagesOf(source: TestSource, since: number | undefined): AsyncGenerator<UserChanges> {
  for (let after = since, more = true; more;) {
    const answer = await source.changesSince(after)
    if (answer.outcome !== 'changes') throw new Error(answer.reason)
    yield answer.changes
    after = answer.changes.revision
    more = answer.changes.more
  }
}

/** A second primary with users of its own, such as one that was restored. */
export async function otherPrimary() {
  const clock = fakeClock()
  const { store, ...rest } = await testStore('sqlite', clock)
  return { store, users: primaryUsersOf(store, clock), [Symbol.asyncDispose]: rest[Symbol.asyncDispose] }
}
