import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptsToken, applyChange, parseName, parseRoles, revokeTokens, type User } from './model.ts'

const USER: User = {
  id: 'u1',
  name: 'ada',
  roles: ['devops'],
  enabled: true,
  createdAt: 1_000,
  updatedAt: 1_000,
  lastLoginAt: null,
  tokenGeneration: 3,
  tokensValidFrom: 5_500,
}

test('a name has 1 to 254 letters, digits and . _ @ + -, and is no name of a directory', () => {
  for (const name of ['a', 'A.b_c-9', 'ada+shop@b.example', '...', 'x'.repeat(254)])
    assert.equal(parseName(name), name)
  for (const name of ['', '.', '..', 'x'.repeat(255), 'a b', 'ä', 'a\n', 'a/b'])
    assert.throws(() => parseName(name), /name/)
})

test('only known roles are accepted, each once and in a fixed order', () => {
  assert.deepEqual(parseRoles(['auditor', 'admin', 'auditor']), ['admin', 'auditor'])
  for (const roles of [[], ['root'], ['admin', 'Admin'], ['admin,devops']])
    assert.throws(() => parseRoles(roles), /roles/)
})

test('a change to the present values returns the same user', () => {
  assert.equal(applyChange(USER, {}, 9_000), USER)
  assert.equal(applyChange(USER, { roles: ['devops', 'devops'], enabled: true }, 9_000), USER)
})

test('a change of roles and disabling revoke the tokens, enabling does not', () => {
  for (const change of [{ roles: ['devops', 'auditor'] }, { enabled: false }]) {
    const next = applyChange(USER, change, 9_000)
    assert.equal(next.tokenGeneration, 4)
    assert.equal(next.tokensValidFrom, 9_000)
    assert.equal(next.updatedAt, 9_000)
  }
  const enabled = applyChange({ ...USER, enabled: false }, { enabled: true }, 9_000)
  assert.equal(enabled.enabled, true)
  assert.equal(enabled.tokenGeneration, 3)
})

test('a token is accepted only in its generation', () => {
  for (const [generation, accepted] of [
    [2, false],
    [3, true],
    [4, false],
  ] as const) {
    assert.equal(acceptsToken(USER, { generation, issuedAt: 9_000 }), accepted)
  }
  assert.equal(acceptsToken(revokeTokens(USER, 9_000), { generation: 3, issuedAt: 9_000 }), false)
})

test('a token without a generation is accepted from the second after a revocation on', () => {
  for (const [issuedAt, accepted] of [
    [4_000, false],
    [5_000, false],
    [6_000, true],
  ] as const) {
    assert.equal(acceptsToken(USER, { generation: undefined, issuedAt }), accepted)
  }
})

test('a token without a generation is accepted from the second of the creation on, if none was revoked', () => {
  const user: User = { ...USER, tokenGeneration: 1 }
  for (const [issuedAt, accepted] of [
    [4_000, false],
    [5_000, true],
  ] as const) {
    assert.equal(acceptsToken(user, { generation: undefined, issuedAt }), accepted)
  }
})

test('no token of a disabled user is accepted', () => {
  assert.equal(acceptsToken({ ...USER, enabled: false }, { generation: 3, issuedAt: 9_000 }), false)
})
