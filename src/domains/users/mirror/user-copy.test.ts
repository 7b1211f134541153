import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mirrorWorld, otherPrimary, PASSWORD, PRIMARY_POOL } from '../../../../test/support/mirror.ts'
import { onEveryDialect } from '../../../../test/support/store.ts'
import { AppError } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { User } from '../model.ts'
import { findAccountByName } from '../store.ts'

const FIRST_PAGE = { limit: 100 }

async function worldWithUsers(dialect: 'sqlite' | 'postgres') {
  const w = await mirrorWorld(dialect)
  const create = (name: string, role: string) => w.users.create({ name, password: PASSWORD, roles: [role] })
  const root = await create('root', 'admin')
  const ada = await create('ada', 'devops')
  const names = async () => (await w.copies.list(FIRST_PAGE)).items.map(({ name }) => name).sort()
  const revision = async () => (await w.copy.state()).revision ?? undefined
  return { ...w, create, root, ada, names, revision }
}

/** What a token depends on. */
const essence = ({ id, name, roles, enabled, tokenGeneration }: User) => ({
  id,
  name,
  roles,
  enabled,
  tokenGeneration,
})

const hasCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

onEveryDialect('the copy of the users', (dialect) => {
  test('has the users of the primary and no password', async () => {
    await using w = await worldWithUsers(dialect)
    await w.exchange()
    assert.deepEqual(essence(await w.copies.get(w.ada.id)), essence(w.ada))
    assert.deepEqual(await w.names(), ['ada', 'root'])
    assert.equal((await findAccountByName(w.store.read, 'ada'))?.passwordHash.reveal(), 'none')
    assert.equal((await w.copy.state()).pool, PRIMARY_POOL)
    assert.deepEqual([w.ended, w.changed], [[], [w.root.id, w.ada.id]])
  })

  test('follows each change, and ends the sessions of users whose tokens have ended', async () => {
    await using w = await worldWithUsers(dialect)
    await w.exchange()
    const bob = await w.create('bob', 'auditor')
    await w.users.change(w.ada.id, { enabled: false })
    await w.users.setPassword(w.root.id, 'another brass telescope')
    w.changed.length = 0
    await w.exchange(await w.revision())
    assert.deepEqual(await w.names(), ['ada', 'bob', 'root'])
    assert.equal((await w.copies.get(w.ada.id)).enabled, false)
    assert.equal((await w.copies.get(w.root.id)).tokenGeneration, 2)
    assert.deepEqual(new Set(w.ended), new Set([w.ada.id, w.root.id]))
    assert.deepEqual(w.changed, [bob.id, w.ada.id, w.root.id])
  })

  test('loses a deleted user, and gives the name to the next one who has it', async () => {
    await using w = await worldWithUsers(dialect)
    await w.exchange()
    await w.users.remove(w.ada.id)
    const next = await w.create('ADA', 'auditor')
    await w.exchange(await w.revision())
    assert.equal((await w.copies.getByName('ada')).id, next.id)
    assert.deepEqual(new Set(w.ended), new Set([w.ada.id]))
  })

  test('becomes that of another history, page by page', async () => {
    await using w = await worldWithUsers(dialect)
    await w.exchange()
    await using restored = await otherPrimary()
    const ada = await restored.users.create({ name: 'ada', password: PASSWORD, roles: ['admin'] })
    for (const name of ['x', 'y', 'z'])
      await restored.users.create({ name, password: PASSWORD, roles: ['devops'] })
    w.source.queries = restored.store.read
    w.source.limit = 1
    await w.exchange(await w.revision())
    assert.deepEqual(await w.names(), ['ada', 'x', 'y', 'z'])
    assert.equal((await w.copies.getByName('ada')).id, ada.id)
    assert.deepEqual(new Set(w.ended), new Set([w.root.id, w.ada.id]))
    const asked = w.source.asked.length
    await w.exchange(await w.revision())
    assert.equal(w.source.asked.length, asked + 1)
  })

  test('never replaces users of its own', async () => {
    await using w = await worldWithUsers(dialect)
    await using other = await otherPrimary()
    await other.users.create({ name: 'own', password: PASSWORD, roles: ['admin'] })
    await assert.rejects(w.copyOn(other.store).store(onePage(w.source)), hasCode('not_a_standby'))
    assert.equal((await other.users.getByName('own')).enabled, true)
  })

  test('is not changed by an exchange that another process has overtaken', async () => {
    await using w = await worldWithUsers(dialect)
    await w.exchange()
    const since = await w.revision()
    await w.users.change(w.ada.id, { enabled: false })
    const late = w.copy.store(
      (async function* () {
        const answer = await w.source.changesSince(since)
        await w.exchange(since)
        if (answer.outcome === 'changes') yield answer.changes
      })(),
    )
    await assert.rejects(late, hasCode('mirror_conflict'))
    assert.equal((await w.copies.get(w.ada.id)).enabled, false)
  })

  test('refuses every change of its own', async () => {
    await using w = await worldWithUsers(dialect)
    await w.exchange()
    const { copies } = w
    const refused = hasCode('users_mirrored')
    await assert.rejects(
      copies.prepareAccount({ name: 'eve', password: PASSWORD, roles: ['admin'] }),
      refused,
    )
    await assert.rejects(copies.preparePassword(w.ada.id, PASSWORD), refused)
    await assert.rejects(
      copies.ensureFirstAdmin().then(() => w.store.write((tx) => copies.remove(tx, w.ada.id, 'ada'))),
      refused,
    )
    await assert.rejects(
      w.store.write((tx) => copies.change(tx, w.ada.id, { enabled: false }, 'ada')),
      refused,
    )
    await assert.rejects(
      w.store.write((tx) => copies.setPassword(tx, w.ada.id, { hash: new Secret('hash') }, 'ada')),
      refused,
    )
  })
})

async function* onePage(source: {
  changesSince: Awaited<ReturnType<typeof mirrorWorld>>['source']['changesSince']
}) {
  const answer = await source.changesSince(undefined)
  if (answer.outcome === 'changes') yield answer.changes
}
