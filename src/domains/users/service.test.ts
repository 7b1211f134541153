import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../kernel/errors.ts'
import { ROLES, type Role } from '../../kernel/identity.ts'
import { silentLogger, type Logger } from '../../kernel/logger.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { DialectName } from '../../store/dialects/capabilities.ts'
import { readOnly } from '../../store/open.ts'
import { createPasswords } from '../../infra/passwords/pbkdf2.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { onEveryDialect, testStore } from '../../../test/support/store.ts'
import { ACTOR, NO_SESSIONS, usersOf, type TestUsers } from '../../../test/support/users.ts'
import { Users } from './service.ts'
import { findAccountByName } from './store.ts'

const PASSWORD = 'a heavy brass telescope'
const FIRST_PAGE = { limit: 100 }
const passwords = createPasswords({ iterations: 1, queueLimit: 1_000 })

async function world(dialect: DialectName, logger: Logger = silentLogger) {
  const clock = fakeClock()
  const { store, ...rest } = await testStore(dialect, clock)
  const users = usersOf(store, new Users({ store, clock, logger, passwords, sessions: NO_SESSIONS }))
  const add = (name: string, ...roles: Role[]) => users.create({ name, password: PASSWORD, roles })
  return { clock, store, users, add, [Symbol.asyncDispose]: rest[Symbol.asyncDispose] }
}

function hasCode(code: string) {
  return (error: unknown) => error instanceof AppError && error.code === code
}

async function activeAdmins(users: TestUsers): Promise<string[]> {
  const { items } = await users.list(FIRST_PAGE)
  return items.filter(({ enabled, roles }) => enabled && roles.includes('admin')).map(({ name }) => name)
}

onEveryDialect('users', (dialect) => {
  test('a new user is enabled, is found by id and by name, and keeps the case of the name', async () => {
    await using w = await world(dialect)
    const user = await w.add('Ada', 'devops', 'admin')
    assert.deepEqual(user.roles, ['admin', 'devops'])
    assert.equal(user.enabled, true)
    assert.equal(user.lastLoginAt, null)
    assert.deepEqual(await w.users.get(user.id), user)
    assert.deepEqual(await w.users.getByName('aDA'), user)
  })

  test('the names of no ids are none', async () => {
    await using w = await world(dialect)
    const { id } = await w.add('ada', 'devops')
    assert.deepEqual((await w.users.users.names([id])).map(Object.values), [[id, 'ada']])
    assert.deepEqual(await w.users.users.names([]), [])
  })

  test('the log names who makes each change', async () => {
    const lines: unknown[] = []
    const logger = {
      ...silentLogger,
      info: (fields: object, message: string) => lines.push([fields, message]),
    }
    await using w = await world(dialect, logger)
    await w.users.ensureFirstAdmin()
    const { id } = await w.add('ada', 'devops')
    await w.users.change(id, { enabled: false })
    await w.users.setPassword(id, 'another brass telescope')
    await w.users.remove(id)
    const { id: adminId } = await w.users.getByName('admin')
    assert.deepEqual(lines, [
      [{ user_id: adminId, actor: 'platform' }, 'user created'],
      ...['user created', 'user changed', 'password changed', 'user deleted'].map((message) => [
        { user_id: id, actor: ACTOR },
        message,
      ]),
    ])
  })

  test('only the hash of a password is stored, and it is not printed with the user', async () => {
    await using w = await world(dialect)
    const user = await w.add('ada', 'admin')
    const account = await findAccountByName(w.store.read, 'ada')
    assert.match(account?.passwordHash.reveal() ?? '', /^pbkdf2-sha256\$/)
    assert.equal(JSON.stringify([user, account]).includes('pbkdf2'), false)
  })

  test('names are unique ignoring case, even when two are created concurrently', async () => {
    await using w = await world(dialect)
    const outcomes = await Promise.allSettled([w.add('ada', 'admin'), w.add('ADA', 'admin')])
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    await assert.rejects(w.add('Ada', 'admin'), hasCode('user_exists'))
    assert.equal((await w.users.list(FIRST_PAGE)).items.length, 1)
  })

  test('invalid names, roles and passwords are refused', async () => {
    await using w = await world(dialect)
    const good = { name: 'ada', password: PASSWORD, roles: ['admin'] }
    for (const bad of [
      { name: 'a b' },
      { roles: [] },
      { roles: ['root'] },
      { password: 'password1234' },
      { password: 'short' },
    ]) {
      await assert.rejects(w.users.create({ ...good, ...bad }), hasCode('validation_failed'))
    }
    const { id } = await w.users.create(good)
    await assert.rejects(w.users.setPassword(id, 'password1234'), hasCode('validation_failed'))
    await assert.rejects(w.users.change(id, { roles: ['root'] }), hasCode('validation_failed'))
  })

  test('users are listed newest first, page by page', async () => {
    await using w = await world(dialect)
    for (const name of ['a1', 'a2', 'a3']) await w.add(name, 'auditor')
    const first = await w.users.list({ limit: 2 })
    const second = await w.users.list({ limit: 2, after: first.next })
    assert.deepEqual(
      [...first.items, ...second.items].map(({ name }) => name),
      ['a3', 'a2', 'a1'],
    )
    assert.equal(second.next, null)
  })

  test('a change and a new password increment the token generation, a deletion removes the user', async () => {
    await using w = await world(dialect)
    await w.add('root', 'admin')
    const { id } = await w.add('ada', 'devops')
    w.clock.advance(1_000)
    assert.equal((await w.users.change(id, { roles: ['auditor'] })).tokenGeneration, 2)
    await w.users.setPassword(id, 'another brass telescope')
    const user = await w.users.change(id, { enabled: false })
    assert.equal(user.tokenGeneration, 4)
    assert.deepEqual(await w.users.get(id), user)
    await w.users.remove(id)
    await assert.rejects(w.users.get(id), hasCode('user_not_found'))
  })

  test('changes of an unknown user are refused', async () => {
    await using w = await world(dialect)
    await assert.rejects(w.users.change('nobody', { enabled: false }), hasCode('user_not_found'))
    await assert.rejects(w.users.remove('nobody'), hasCode('user_not_found'))
    await assert.rejects(w.users.setPassword('nobody', PASSWORD), hasCode('user_not_found'))
    await assert.rejects(w.users.getByName('nobody'), hasCode('user_not_found'))
  })

  test('listeners are called after the commit of every change, and not for a refused one', async () => {
    await using w = await world(dialect)
    const calls: string[] = []
    const { id } = await w.add('ada', 'admin')
    const stop = w.users.onUserChanged((userId) => calls.push(userId))
    await assert.rejects(w.users.remove(id), hasCode('last_admin'))
    await w.users.change(id, { enabled: true })
    assert.deepEqual(calls, [])
    await w.users.setPassword(id, 'another brass telescope')
    assert.deepEqual(calls, [id])
    stop()
    await w.users.change(id, { roles: ['admin', 'devops'] })
    assert.deepEqual(calls, [id])
  })

  test('a password that was checked against an older hash is refused', async () => {
    await using w = await world(dialect)
    const { id } = await w.add('ada', 'admin')
    const verifiedHash = (await findAccountByName(w.store.read, 'ada'))?.passwordHash as Secret
    await w.users.setPassword(id, 'another brass telescope')
    await assert.rejects(
      w.users.setPassword(id, 'a third brass telescope', verifiedHash),
      hasCode('invalid_credentials'),
    )
    assert.equal((await w.users.get(id)).tokenGeneration, 2)
  })

  test('the last enabled admin can be neither disabled, demoted nor deleted', async () => {
    await using w = await world(dialect)
    const { id } = await w.add('ada', 'admin')
    const other = await w.add('grace', 'admin')
    await w.add('edith', 'devops')
    await w.users.change(other.id, { enabled: false })
    for (const change of [{ enabled: false }, { roles: ['devops'] }]) {
      await assert.rejects(w.users.change(id, change), hasCode('last_admin'))
    }
    await assert.rejects(w.users.remove(id), hasCode('last_admin'))
    assert.deepEqual((await w.users.change(id, { roles: ['admin', 'devops'] })).roles, ['admin', 'devops'])
    await w.users.remove(other.id)
    assert.deepEqual(await activeAdmins(w.users), ['ada'])
  })

  test('of two concurrent removals of the last two admins one is refused, for every kind of removal', async () => {
    await using w = await world(dialect)
    const removals = [
      (id: string) => w.users.change(id, { enabled: false }),
      (id: string) => w.users.change(id, { roles: ['auditor'] }),
      (id: string) => w.users.remove(id),
    ]
    let round = 0
    for (const first of removals) {
      for (const second of removals) {
        const [left] = await activeAdmins(w.users)
        const one = left ? await w.users.getByName(left) : await w.add(`one${round}`, 'admin')
        const two = await w.add(`two${round++}`, 'admin')
        const outcomes = await Promise.allSettled([first(one.id), second(two.id)])
        const refused = outcomes.filter(({ status }) => status === 'rejected')
        assert.equal(refused.length, 1)
        assert.ok(refused.every((each) => each.status === 'rejected' && hasCode('last_admin')(each.reason)))
        assert.equal((await activeAdmins(w.users)).length, 1)
      }
    }
  })

  test('concurrent changes of one user are all applied', async () => {
    await using w = await world(dialect)
    await w.add('root', 'admin')
    const { id } = await w.add('ada', 'devops')
    await Promise.all([
      w.users.change(id, { roles: ['auditor'] }),
      w.users.change(id, { enabled: false }),
      w.users.setPassword(id, 'another brass telescope'),
    ])
    const user = await w.users.get(id)
    assert.deepEqual([user.roles, user.enabled, user.tokenGeneration], [['auditor'], false, 4])
  })

  test('of several concurrent processes one creates the first admin', async () => {
    await using w = await world(dialect)
    const createdAdmins = (
      await Promise.all(Array.from({ length: 5 }, () => w.users.ensureFirstAdmin()))
    ).filter(Boolean)
    assert.equal(createdAdmins.length, 1)
    assert.equal(createdAdmins[0]?.name, 'admin')
    assert.match(createdAdmins[0]?.password.reveal() ?? '', /^[A-Za-z0-9_-]{24}$/)
    assert.deepEqual(await activeAdmins(w.users), ['admin'])
    const hash = (await findAccountByName(w.store.read, 'admin'))?.passwordHash.reveal() ?? ''
    assert.equal((await passwords.verify(createdAdmins[0]?.password.reveal() ?? '', hash)).matches, true)
    assert.equal(await w.users.ensureFirstAdmin(), undefined)
  })

  test('no first admin is created when there is a user', async () => {
    await using w = await world(dialect)
    await w.add('ada', 'auditor')
    assert.equal(await w.users.ensureFirstAdmin(), undefined)
    assert.equal((await w.users.list(FIRST_PAGE)).items.length, 1)
  })
})

test('a read-only platform refuses to create a user', async () => {
  await using w = await world('sqlite')
  const store = readOnly(w.store)
  const users = usersOf(
    store,
    new Users({ store, clock: w.clock, logger: silentLogger, passwords, sessions: NO_SESSIONS }),
  )
  await assert.rejects(
    users.create({ name: 'ada', password: PASSWORD, roles: ['admin'] }),
    hasCode('read_only'),
  )
})

type Step =
  | { readonly kind: 'add'; readonly roles: readonly Role[] }
  | { readonly kind: 'roles'; readonly index: number; readonly roles: readonly Role[] }
  | { readonly kind: 'enabled'; readonly index: number; readonly enabled: boolean }
  | { readonly kind: 'remove'; readonly index: number }

const roles = fc.subarray([...ROLES], { minLength: 1 })
const index = fc.nat(4)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('add'), roles }),
  fc.record({ kind: fc.constant('roles'), index, roles }),
  fc.record({ kind: fc.constant('enabled'), index, enabled: fc.boolean() }),
  fc.record({ kind: fc.constant('remove'), index }),
)

interface Expected {
  roles: readonly Role[]
  enabled: boolean
}

test('any sequence of changes leaves an enabled admin, and only changes that would not are refused', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
      await using w = await world('sqlite')
      const model = new Map<string, Expected>()
      const add = async (given: readonly Role[]) => {
        const { id } = await w.add(`user${model.size}-${w.clock.now()}`, ...given)
        w.clock.advance(1)
        model.set(id, { roles: given, enabled: true })
      }
      const leavesAdmin = (id: string, next: Expected | undefined) =>
        [...model].some(([each, user]) => {
          const after = each === id ? next : user
          return after?.enabled && after.roles.includes('admin')
        })
      const apply = async (id: string, next: Expected | undefined, call: () => Promise<unknown>) => {
        const outcome = await call().then(
          () => 'done',
          (error: AppError) => error.code,
        )
        assert.equal(outcome, leavesAdmin(id, next) ? 'done' : 'last_admin')
        if (outcome !== 'done') return
        if (next) model.set(id, next)
        else model.delete(id)
      }

      await add(['admin'])
      for (const each of steps) {
        if (each.kind === 'add') {
          await add(each.roles)
          continue
        }
        const [id, user] = [...model][each.index % model.size] as [string, Expected]
        if (each.kind === 'remove') await apply(id, undefined, () => w.users.remove(id))
        else if (each.kind === 'roles') {
          await apply(id, { ...user, roles: each.roles }, () => w.users.change(id, { roles: each.roles }))
        } else {
          await apply(id, { ...user, enabled: each.enabled }, () =>
            w.users.change(id, { enabled: each.enabled }),
          )
        }
      }
    }),
    { numRuns: 40 },
  )
})
