import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isUserName, type Role } from '../../kernel/identity.ts'
import {
  isUnverified,
  judge,
  rolesOf,
  shapeOf,
  userNameOf,
  type ClaimRules,
  type SignInVerdict,
} from './model.ts'

const rules = (given: Partial<ClaimRules> = {}): ClaimRules => ({
  userClaim: 'sub',
  defaultRoles: [],
  createUsers: false,
  syncRoles: false,
  ...given,
})
const user = (roles: readonly Role[] = ['devops'], enabled = true) => ({
  id: 'u',
  name: 'ada',
  enabled,
  roles,
})

describe('the name of the user', () => {
  test('is the text of the claim; anything else is no name', () => {
    assert.equal(userNameOf({ sub: 'ada', email: 'a@b.example' }, rules()), 'ada')
    assert.equal(userNameOf({ user: { login: 'ada' } }, rules({ userClaim: 'user.login' })), 'ada')
    assert.equal(
      userNameOf({ 'https://a.example/name': 'ada' }, rules({ userClaim: 'https://a.example/name' })),
      'ada',
    )
    for (const sub of [undefined, null, '', 7, true, ['ada'], { name: 'ada' }])
      assert.equal(userNameOf({ sub }, rules()), undefined)
    assert.equal(userNameOf({}, rules({ userClaim: 'constructor.name' })), undefined)
  })

  test('has only letters whose lower case is their own', () => {
    for (const name of ['Ada.Lovelace_1-x', 'ada+shop@b.example', 'a'.repeat(254)])
      assert.equal(isUserName(name), true)
    // The Kelvin sign and the long s become "k" and "s" when a text is compared ignoring case.
    for (const name of ['\u212Aate', 'boss\u017F', '.', '..', '', 'a'.repeat(255), 'a b', 'é'])
      assert.equal(isUserName(name), false, name)
  })
})

test('a text that is no name is described by its length and by what a name has not', () => {
  assert.equal(shapeOf('Ada Löv'), '7 characters, with " " "ö"')
  assert.equal(shapeOf('a'.repeat(300)), '300 characters')
})

test('an e-mail address is a name unless the provider says that it is not verified', () => {
  const byEmail = rules({ userClaim: 'email' })
  assert.equal(isUnverified({ email: 'a@b.example', email_verified: false }, byEmail), true)
  assert.equal(isUnverified({ email: 'a@b.example', email_verified: 'false' }, byEmail), true)
  assert.equal(isUnverified({ email: 'a@b.example' }, byEmail), false)
  assert.equal(isUnverified({ sub: 'a', email_verified: false }, rules()), false)
})

test('roles come from the claim: a text or a list, mapped when there is a map', () => {
  const cases: readonly (readonly [claim: unknown, map: ClaimRules['roleMap'], roles: readonly Role[]])[] = [
    ['admin', undefined, ['admin']],
    [['auditor', 'admin', 'king', 'admin'], undefined, ['admin', 'auditor']],
    ['ops', { ops: ['devops', 'auditor'], boss: ['admin'] }, ['devops', 'auditor']],
    [['ops', 'boss'], { ops: ['devops'], boss: ['admin'] }, ['admin', 'devops']],
    // With a map, the name of a role is no role.
    ['admin', { ops: ['devops'] }, []],
    ['toString', { ops: ['devops'] }, []],
    ['__proto__', { ops: ['devops'] }, []],
    [7, undefined, []],
    [{ admin: true }, undefined, []],
    [[['admin']], undefined, []],
    [undefined, undefined, []],
  ]
  for (const [claim, roleMap, roles] of cases)
    assert.deepEqual(
      rolesOf({ groups: claim }, rules({ rolesClaim: 'groups', roleMap })),
      roles,
      String(claim),
    )
  const nested = { realm_access: { roles: ['admin'] } }
  assert.deepEqual(rolesOf(nested, rules({ rolesClaim: 'realm_access.roles' })), ['admin'])
  assert.deepEqual(rolesOf({ admin: 'admin' }, rules()), [], 'no claim is configured')
})

describe('the verdict', () => {
  const refuse = (reason: string) => ({ action: 'refuse', reason }) as SignInVerdict
  const cases: readonly (readonly [
    what: string,
    known: ReturnType<typeof user> | undefined,
    claim: unknown,
    given: Partial<ClaimRules>,
    verdict: SignInVerdict,
  ])[] = [
    ['a known user signs in', user(), undefined, {}, { action: 'sign_in' }],
    ['a known user keeps the roles', user(), 'admin', { rolesClaim: 'r' }, { action: 'sign_in' }],
    ['a disabled user does not', user(['devops'], false), undefined, {}, refuse('user_disabled')],
    ['a user without roles does not', user([]), undefined, {}, refuse('no_role')],
    ['an unknown user does not', undefined, 'admin', { rolesClaim: 'r' }, refuse('unknown_user')],
    [
      'an unknown user is created with the roles of the claim',
      undefined,
      'admin',
      { rolesClaim: 'r', createUsers: true, defaultRoles: ['auditor'] },
      { action: 'create', roles: ['admin'] },
    ],
    [
      'without them with the default roles',
      undefined,
      'king',
      { rolesClaim: 'r', createUsers: true, defaultRoles: ['auditor'] },
      { action: 'create', roles: ['auditor'] },
    ],
    [
      'without any role not at all',
      undefined,
      'king',
      { rolesClaim: 'r', createUsers: true },
      refuse('no_role'),
    ],
    [
      'with sync_roles the claim sets the roles',
      user(),
      'admin',
      { rolesClaim: 'r', syncRoles: true },
      { action: 'set_roles', roles: ['admin'] },
    ],
    [
      'with sync_roles the same roles change nothing',
      user(),
      'devops',
      { rolesClaim: 'r', syncRoles: true },
      { action: 'sign_in' },
    ],
    [
      'with sync_roles a user to whom the claim gives no role loses the roles',
      user(),
      'king',
      { rolesClaim: 'r', syncRoles: true },
      { action: 'set_roles', roles: [] },
    ],
    [
      'with sync_roles a user without roles is refused while the claim gives none',
      user([]),
      'king',
      { rolesClaim: 'r', syncRoles: true },
      refuse('no_role'),
    ],
    [
      'with sync_roles a user without roles gets those of the claim',
      user([]),
      'admin',
      { rolesClaim: 'r', syncRoles: true },
      { action: 'set_roles', roles: ['admin'] },
    ],
    [
      'sync_roles without a claim changes nothing',
      user(),
      'admin',
      { syncRoles: true },
      { action: 'sign_in' },
    ],
    [
      'a disabled user is refused before the roles count',
      user(['devops'], false),
      'king',
      { rolesClaim: 'r', syncRoles: true },
      refuse('user_disabled'),
    ],
  ]
  for (const [what, known, claim, given, verdict] of cases)
    test(what, () => assert.deepEqual(judge(known, { sub: 'ada', r: claim }, rules(given)), verdict))
})
