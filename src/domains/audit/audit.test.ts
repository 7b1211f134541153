import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { fakeClock } from '../../../test/support/clock.ts'
import { chanceOf } from '../../../test/support/random.ts'
import { startRouteServer } from '../../../test/support/route-server.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
import { changesBetween, systemRecord } from '../../kernel/audit.ts'
import { AppError } from '../../kernel/errors.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { DAY } from '../../kernel/time.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import type { Store, Tx } from '../../store/store.ts'
import type { AuditKeys, AuditSeal } from './model.ts'
import { auditRoutes } from './routes.ts'
import { AuditSeals, type AuditFault, type AuditFiles } from './seals.ts'
import { Audit, type SettingsKey } from './service.ts'

// Four alterations each; ROUNDS=2500 makes ten thousand.
const ROUNDS = Number(process.env['ROUNDS'] ?? 12)
const PAGE = 10
const SIGNAL = new AbortController().signal

function keyOf(id: string) {
  return { id, bytes: randomBytes(48) }
}

function memoryFiles() {
  let keys: AuditKeys = [keyOf('first')]
  let kept: AuditSeal | undefined
  return {
    rotate: (id: string) => void (keys = [keyOf(id), ...keys]),
    replace: (id: string) => void (keys = [keyOf(id)]),
    forget: () => void (kept = undefined),
    readOrCreateKeys: () => keys,
    readKeys: () => keys,
    readSeal: () => kept,
    keepSeal: (seal: AuditSeal | undefined) => void (kept = seal),
  } satisfies AuditFiles & Record<string, unknown>
}

async function world(dialect: DialectName) {
  const clock = fakeClock()
  const opened = await testStore(dialect, clock)
  const { store } = opened
  const files = memoryFiles()
  const errors: string[] = []
  const logger = { ...silentLogger, error: (_fields: object, message: string) => void errors.push(message) }
  const audit = new Audit({ store, clock, logger: silentLogger })
  const sealsOf = (used: Store) =>
    new AuditSeals({ store: used, clock, logger, trail: audit, files, pageEntries: PAGE })
  const seals = sealsOf(store)
  return {
    clock,
    store,
    files,
    errors,
    audit,
    seals,
    seal: () => seals.seal(SIGNAL),
    /** As the worker of another process. */
    restart: () => sealsOf(store).seal(SIGNAL),
    async add(count: number) {
      await store.write(async (tx) => {
        for (let index = 0; index < count; index++)
          await audit.record(tx, {
            ...systemRecord('updateUser', { kind: 'user', id: `u${index}` }),
            changes: { roles: [['admin'], ['devops', `r${index}`]] },
          })
      })
    },
    /** What `verify` finds after these changes of the database, which are rolled back. */
    async faultAfter(harm: (tx: Tx) => Promise<unknown>, kept: readonly AuditSeal[] = []) {
      let fault: AuditFault | undefined
      const rolledBack = new Error('rolled back')
      const work = store.write(async (tx) => {
        await harm(tx)
        fault = (await sealsOf(within(store, tx)).verify(kept)).fault
        throw rolledBack
      })
      await assert.rejects(work, rolledBack)
      return fault
    },
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]()
    },
  }
}

/** A store that reads what an open transaction sees. */
function within(store: Store, tx: Tx): Store {
  const readAside: Store['readAside'] = async (query) => (await tx.db.executeQuery(query.compile())).rows
  return { ...store, read: tx, readAside }
}

const CONTENT = [
  'id',
  'at',
  'actor_id',
  'actor_name',
  'actor_kind',
  'operation',
  'target_kind',
  'target_id',
  'request_id',
  'remote_address',
  'changes',
  'outcome',
] as const
type Raw = Readonly<Record<(typeof CONTENT)[number] | 'seq', string | number | null>>

async function rawRow(tx: Tx, seq: number): Promise<Raw> {
  const { rows } = await sql<Raw>`select * from audit_entries where seq = ${seq}`.execute(tx.db)
  assert.ok(rows[0])
  return rows[0]
}

async function setContent(tx: Tx, seq: number, row: Raw): Promise<void> {
  const values = CONTENT.map((name) => sql`${sql.ref(name)} = ${row[name]}`)
  await sql`update audit_entries set ${sql.join(values)} where seq = ${seq}`.execute(tx.db)
}

async function putIn(tx: Tx, seq: number): Promise<void> {
  const overriding = tx.capabilities.dialect === 'postgres' ? sql`overriding system value` : sql``
  await sql`
    insert into audit_entries (seq, ${sql.join(CONTENT.map((name) => sql.ref(name)))}) ${overriding}
    select ${sql.lit(seq)}, 'forged', ${sql.join(CONTENT.slice(1).map((name) => sql.ref(name)))}
    from audit_entries order by seq limit 1
  `.execute(tx.db)
}

async function swap(tx: Tx, one: number, other: number): Promise<void> {
  const [first, second] = [await rawRow(tx, one), await rawRow(tx, other)]
  await setContent(tx, one, { ...first, id: 'between' })
  await setContent(tx, other, first)
  await setContent(tx, one, second)
}

onEveryDialect('the audit trail', (dialect) => {
  test('whatever is changed, removed, put in or swapped: the first such row is named', async (t) => {
    await using trail = await world(dialect)
    await trail.add(40)
    // Numbers without rows, as transactions that are rolled back leave them.
    const gaps = [7, 8, 19, 30]
    await trail.store.write((tx) =>
      sql`delete from audit_entries where seq in (${sql.join(gaps)})`.execute(tx.db),
    )
    assert.equal(await trail.seal(), 36)
    assert.deepEqual(await trail.seals.verify(), {
      fault: undefined,
      checked: 36,
      unsealed: 0,
      newest: trail.files.readSeal(),
    })
    const chance = chanceOf(t)
    const seqs = Array.from({ length: 40 }, (_, index) => index + 1).filter((seq) => !gaps.includes(seq))
    const anySeq = () => chance.pick(seqs)
    for (let round = 0; round < ROUNDS; round++) {
      const column = chance.pick(CONTENT)
      const [one = 1, other = 2] = [...new Set([anySeq(), anySeq(), 3, 5])]
        .slice(0, 2)
        .toSorted((a, b) => a - b)
      const value = column === 'at' ? 1 : 'altered'
      const changed = await trail.faultAfter(async (tx) =>
        setContent(tx, one, { ...(await rawRow(tx, one)), [column]: value }),
      )
      assert.deepEqual([changed?.fault, changed?.seq], ['changed', one], column)
      const removed = await trail.faultAfter((tx) =>
        sql`delete from audit_entries where seq = ${one}`.execute(tx.db),
      )
      assert.deepEqual([removed?.fault, removed?.seq], ['removed', one])
      const gap = chance.pick(gaps)
      const added = await trail.faultAfter((tx) => putIn(tx, gap))
      assert.deepEqual([added?.fault, added?.seq], ['put_in', gap])
      const swapped = await trail.faultAfter((tx) => swap(tx, one, other))
      assert.ok(swapped?.fault === 'swapped' || swapped?.fault === 'changed')
      assert.equal(swapped.seq, one)
    }
    const near = await trail.faultAfter((tx) => swap(tx, 2, 5))
    assert.deepEqual([near?.fault, near?.seq, near?.other], ['swapped', 2, 5])
  })

  test('a worker that lacks the key of former seals says so once, and seals on', async () => {
    await using trail = await world(dialect)
    await trail.add(3)
    await trail.seal()
    trail.files.rotate('second')
    await trail.restart()
    assert.deepEqual(trail.errors, [])
    trail.files.replace('foreign')
    await trail.add(3)
    assert.equal(await trail.restart(), 6)
    assert.equal(trail.errors.length, 1)
    assert.match(trail.errors[0] ?? '', /^the file audit-key does not have the keys of former seals/)
  })

  test('an end that was cut off is found by a seal that somebody has kept, also when the seals are cut off with it', async () => {
    await using trail = await world(dialect)
    await trail.add(15)
    await trail.seal()
    const early = trail.files.readSeal()
    await trail.add(10)
    await trail.seal()
    assert.ok(early)
    assert.equal((await trail.seals.verify([early])).fault, undefined, 'a seal of an open page stays valid')
    const cut = async (tx: Tx) => {
      await sql`delete from audit_entries where seq > 20`.execute(tx.db)
      await sql`delete from audit_seals where page > 2`.execute(tx.db)
    }
    assert.equal((await trail.faultAfter(cut))?.fault, 'cut_off')
    // Without the rows of the last page, its seal accuses.
    const rowsOnly = (tx: Tx) => sql`delete from audit_entries where seq > 22`.execute(tx.db)
    assert.deepEqual((await trail.faultAfter(rowsOnly))?.seq, 23)
    const page = (tx: Tx) => sql`delete from audit_seals where page = 1`.execute(tx.db)
    assert.equal((await trail.faultAfter(page))?.fault, 'page_missing')
    await trail.store.write(cut)
    await trail.add(1)
    await trail.seal()
    const missing = trail.files.readSeal()
    assert.equal(missing?.total, 25, 'the proof is not overwritten')
    assert.equal(trail.errors.length, 1, 'the worker says so, too')
    assert.match(trail.errors[0] ?? '', /run: platform audit accept 25:/)
    await trail.seal()
    assert.equal(trail.errors.length, 1, 'and does not repeat it')
    const accept = (seal: AuditSeal) =>
      trail.seals.accept(seal, systemRecord('cli.audit.accept', { kind: 'audit', id: null }))
    await assert.rejects(accept(early), { code: 'seal_not_missing' })
    await accept(missing)
    assert.equal((await trail.seals.verify()).fault, undefined)
    assert.equal(await trail.seal(), 22)
    assert.equal(trail.files.readSeal()?.total, 22, 'the trail goes on')
    await assert.rejects(accept(missing), /contains the newest seal of this host/)
    assert.equal((await trail.seals.verify([{ total: 25, code: 'x'.repeat(22) }])).fault?.fault, 'cut_off')
    assert.equal((await trail.seals.verify([{ total: 21, code: 'x'.repeat(22) }])).fault?.fault, 'replaced')
  })

  test('a new key seals a new page, and what the older one has sealed stays verifiable', async () => {
    await using trail = await world(dialect)
    await trail.add(3)
    await trail.seal()
    trail.files.rotate('second')
    await trail.add(3)
    await trail.seal()
    const { fault, checked } = await trail.seals.verify()
    assert.deepEqual([fault, checked], [undefined, 6])
    const changed = await trail.faultAfter((tx) =>
      sql`update audit_entries set outcome = 'refused' where seq = 2`.execute(tx.db),
    )
    assert.equal(changed?.seq, 2)
  })

  test('whole pages are removed for their age, the trail says so, and verifies; pages that vanish otherwise are missing', async () => {
    await using trail = await world(dialect)
    await trail.add(25)
    await trail.seal()
    trail.clock.advance(10 * DAY)
    await trail.add(10)
    await trail.seal()
    const kept = trail.files.readSeal()
    while (await trail.seals.prune(trail.clock.now() - 5 * DAY));
    await trail.seal()
    const { fault, checked, newest } = await trail.seals.verify(kept && [kept])
    // Two pages were old; the third has rows of both days.
    assert.deepEqual([fault, checked, newest?.total], [undefined, 17, 37])
    const { items } = await trail.audit.list({ operation: 'pruneAudit' }, { limit: 10 })
    assert.deepEqual(
      items.map(({ changes }) => changes['first_page']),
      [
        [2, 3],
        [1, 2],
      ],
    )
    const further = await trail.faultAfter(async (tx) => {
      await sql`delete from audit_entries where seq <= 30`.execute(tx.db)
      await sql`delete from audit_seals where page = 3`.execute(tx.db)
    })
    assert.deepEqual([further?.fault, further?.page], ['page_missing', 3])
    const forged = await trail.faultAfter(async (tx) => {
      await sql`delete from audit_entries where seq <= 30`.execute(tx.db)
      await sql`delete from audit_seals where page = 3`.execute(tx.db)
      await sql`update audit_entries set changes = '{"first_page":[3,4]}' where operation = 'pruneAudit'`.execute(
        tx.db,
      )
    })
    assert.deepEqual([forged?.fault, forged?.page], ['page_missing', 3])
  })

  test('a start records which settings differ, without their values', async () => {
    await using trail = await world(dialect)
    const keyOfId = (id: string) => ({ id, hash: (value: string) => `${id} of ${value.length}` })
    let keys: [SettingsKey, ...SettingsKey[]] = [keyOfId('k')]
    const start = (listen: string) =>
      trail.audit.recordSettings(
        'host',
        [
          { key: 'api.listen', value: listen },
          { key: 'data_dir', value: 'x' },
        ],
        keys,
      )
    await start('a')
    await start('a')
    keys = [keyOfId('another'), ...keys]
    await start('a')
    await start('secret')
    const { items } = await trail.audit.list({ target: { kind: 'settings', id: 'host' } }, { limit: 10 })
    assert.deepEqual(
      items.map(({ changes }) => Object.keys(changes)),
      [['all', 'api.listen'], ['all']],
    )
    assert.doesNotMatch(JSON.stringify(items), /secret/)
  })

  test('more refusals than the limit are counted, and the next record has their number', async () => {
    await using trail = await world(dialect)
    const refused = { ...systemRecord('listUsers', { kind: 'users', id: null }), outcome: 'refused' as const }
    await Promise.all(Array.from({ length: 610 }, () => trail.audit.note(refused)))
    trail.clock.advance(DAY)
    await trail.audit.note(refused)
    const { items } = await trail.audit.list({ actor: 'platform' }, { limit: 1_000 })
    assert.equal(items.length, 601)
    assert.deepEqual(items[0]?.changes, { unwritten_before: [0, 10] })
  })
})

test('changes have no secrets, and long values are cut', () => {
  const before = { name: 'anna', secret: 'one', updated_at: '1', note: 'short' }
  const after = { name: 'anna', secret: 'two', updated_at: '2', note: 'x'.repeat(5_000), ping_url: '/ping/1' }
  const { note, ...others } = changesBetween(before, after)
  assert.deepEqual(others, {})
  assert.match(String(note?.[1]), /^x{200}… \(5000 characters\)$/)
  assert.deepEqual(changesBetween(undefined, { roles: ['admin'], gone: null }), { roles: [null, ['admin']] })
})

test('an export has each row of several parts, and one that cannot be read is an error', async () => {
  await using w = await world('sqlite')
  await w.add(1_001)
  const exportOf = async (store: Store) => {
    const audit = new Audit({ store, clock: w.clock, logger: silentLogger })
    await using server = await startRouteServer({
      store,
      clock: w.clock,
      routes: auditRoutes(audit, w.seals),
    })
    const answer = await server.send('GET', '/audit/export')
    return { status: answer.status, lines: (await answer.text()).trimEnd().split('\n') }
  }
  const { status, lines } = await exportOf(w.store)
  const targets = lines.map((line) => (JSON.parse(line) as { target: { id: string } }).target.id)
  assert.equal(status, 200)
  assert.deepEqual(
    targets,
    targets.map((_, index) => `u${index}`),
  )
  assert.equal(targets.length, 1_001)
  const away = new AppError('unavailable', 'store_unavailable', 'The database is away.')
  assert.equal((await exportOf({ ...w.store, readAside: () => Promise.reject(away) })).status, 503)
})
