import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanToken, isToken, readBearer, readLifetime, warningTime } from './token.ts'

const tokenWith = (claims: unknown) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`

test('the bearer is who the token names', () => {
  assert.deepEqual(readBearer(tokenWith({ sub: '1', name: 'Zoë', roles: ['admin', 7] })), {
    id: '1',
    name: 'Zoë',
    roles: ['admin'],
  })
  assert.equal(readBearer(tokenWith({ sub: 'only-id' })).name, 'only-id')
})

for (const token of ['', 'abc', 'a.%%%.c', tokenWith(null), tokenWith('text')]) {
  test(`a token that cannot be read has no name: ${JSON.stringify(token)}`, () => {
    assert.deepEqual(readBearer(token), { id: '', name: '', roles: [] })
  })
}

test('what is copied along with a token is taken off', () => {
  assert.equal(cleanToken(' Bearer abc.def\n.ghi '), 'abc.def.ghi')
})

test('what no header can carry is not a token', () => {
  assert.equal(isToken('abc.d-e_f'), true)
  assert.equal(isToken(''), false)
  assert.equal(isToken('abc€'), false)
})

test('the end of a token is announced five minutes before, and of a short one in its last quarter', () => {
  assert.equal(readLifetime(tokenWith({ iat: 1 })), null)
  const hour = readLifetime(tokenWith({ iat: 1_000, exp: 4_600 }))
  assert.deepEqual(hour, { issuedAt: 1_000_000, expiresAt: 4_600_000 })
  assert.equal(hour && warningTime(hour), 4_300_000)
  assert.equal(warningTime({ issuedAt: 0, expiresAt: 60_000 }), 45_000)
})
