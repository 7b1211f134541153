import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { type Clock, systemClock } from '../../src/kernel/clock.ts'
import { silentLogger, type Logger } from '../../src/kernel/logger.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Secret } from '../../src/kernel/secret.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openStore, type DatabaseAddress } from '../../src/store/open.ts'
import type { Store, Tx } from '../../src/store/store.ts'
import type { StoreLimits } from '../../src/store/unavailable.ts'
import { createTestDatabase } from './postgres.ts'

interface NewDatabase {
  readonly address: DatabaseAddress
  /** The name of the database, or the path of its file. */
  readonly name: string
  /** Removes it. */
  drop(): Promise<void>
}

const DIALECTS: readonly DialectName[] = ['sqlite', 'postgres']

async function createPostgresDatabase(template?: string): Promise<NewDatabase> {
  const { name, url, drop } = await createTestDatabase({ ...(template !== undefined && { template }) })
  return { name, address: { kind: 'postgres', url: new Secret(url) }, drop }
}

async function createSqliteDatabase(template?: string): Promise<NewDatabase> {
  const directory = mkdtempSync(join(tmpdir(), 'platform-store-'))
  const path = join(directory, 'platform.db')
  if (template !== undefined) copyFileSync(template, path)
  return {
    name: path,
    address: { kind: 'sqlite', path },
    drop: async () => rmSync(directory, { recursive: true, force: true }),
  }
}

const CREATE = { postgres: createPostgresDatabase, sqlite: createSqliteDatabase } as const

export function emptyDatabase(dialect: DialectName): Promise<NewDatabase> {
  return CREATE[dialect]()
}

// The name of a migrated database, which every process of a test run may copy.
const TEMPLATE_VARIABLES = {
  sqlite: 'PLATFORM_TEST_SQLITE_TEMPLATE',
  postgres: 'PLATFORM_TEST_POSTGRES_TEMPLATE',
} as const satisfies Record<DialectName, string>

const templates = new Map<DialectName, Promise<string>>()

/** Creates a database with the current schema: a copy of one that is migrated once. */
async function migratedDatabase(dialect: DialectName): Promise<NewDatabase> {
  const template = templates.get(dialect) ?? findTemplate(dialect)
  templates.set(dialect, template)
  return CREATE[dialect](await template)
}

async function findTemplate(dialect: DialectName): Promise<string> {
  const shared = process.env[TEMPLATE_VARIABLES[dialect]]
  if (shared !== undefined) return shared
  const { name, drop } = await createTemplate(dialect)
  // The databases of PostgreSQL end with its server.
  if (dialect === 'sqlite') process.once('exit', () => void drop())
  return name
}

/** Migrates a database of each engine for the processes that this one starts. Returns what removes them. */
export async function createSharedTemplates(): Promise<() => Promise<void>> {
  const created = await Promise.all(
    DIALECTS.map(async (dialect) => ({ dialect, ...(await createTemplate(dialect)) })),
  )
  for (const { dialect, name } of created) process.env[TEMPLATE_VARIABLES[dialect]] = name
  return async () => {
    await Promise.all(created.map(({ drop }) => drop()))
  }
}

async function createTemplate(dialect: DialectName): Promise<NewDatabase> {
  const database = await CREATE[dialect]()
  const options = { clock: systemClock, metrics: noMetrics, logger: silentLogger, limits: {} }
  const store = await openStore({ database: database.address, ...options })
  await migrate(store, systemClock)
  await store.close()
  return database
}

export interface TestStore extends AsyncDisposable {
  readonly store: Store
  readonly address: DatabaseAddress
}

/** A database with the current schema, closed and dropped at the end of the scope: `await using world = …`. */
export async function testStore(
  dialect: DialectName,
  clock: Clock = systemClock,
  limits: Partial<StoreLimits> = {},
  logger: Logger = silentLogger,
): Promise<TestStore> {
  const { address, drop } = await migratedDatabase(dialect)
  const store = await openStore({
    database: address,
    clock,
    metrics: noMetrics,
    logger,
    limits,
  })
  return {
    store,
    address,
    async [Symbol.asyncDispose]() {
      await store.close()
      await drop()
    },
  }
}

export interface TestStores extends AsyncDisposable {
  readonly store: Store
  /** Store of another process on the same database. */
  readonly otherStore: Store
}

/** Two stores on one new database, closed and dropped at the end of the scope. */
export async function testStores(dialect: DialectName, clock: Clock): Promise<TestStores> {
  await using opening = new AsyncDisposableStack()
  const { store, address } = opening.use(await testStore(dialect, clock))
  const options = { database: address, clock, metrics: noMetrics, logger: silentLogger }
  const otherStore = opening.adopt(await openStore(options), (other) => other.close())
  const opened = opening.move()
  return { store, otherStore, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

class Repetition extends Error {}

/**
 * The same store, whose every transaction runs twice: the first attempt is rolled back, as after a lost serialization.
 * Whatever an attempt changes outside of the database happens twice, too.
 */
export function repeatingStore(store: Store): Store {
  const write: Store['write'] = async (work, options) => {
    const attempt = store.write(async (tx) => {
      await work(tx)
      throw new Repetition()
    }, options)
    await attempt.catch((error: unknown) => {
      if (!(error instanceof Repetition)) throw error
    })
    return store.write(work, options)
  }
  return { ...store, write }
}

/** Declares a suite for every engine. */
export function onEveryDialect(name: string, suite: (dialect: DialectName) => void): void {
  for (const dialect of DIALECTS) describe(`${name} on ${dialect}`, () => suite(dialect))
}

type InTransactions<T, M extends keyof T> = Omit<T, M> & {
  [Name in M]: T[Name] extends (tx: Tx, ...args: infer A) => infer R ? (...args: A) => R : never
}

/** Wraps an object: each call of the named methods runs in its own transaction, which is repeated once. */
export function inTransactions<T extends object, M extends keyof T & string>(
  store: Store,
  target: T,
  ...methods: readonly M[]
): InTransactions<T, M> {
  const { write } = repeatingStore(store)
  return new Proxy(target, {
    get(object, name) {
      const member = Reflect.get(object, name) as unknown
      if (typeof member !== 'function') return member
      const call = member.bind(object) as (...args: unknown[]) => Promise<unknown>
      if (!methods.includes(name as M)) return call
      return (...args: unknown[]) => write((tx) => call(tx, ...args))
    },
  }) as unknown as InTransactions<T, M>
}
