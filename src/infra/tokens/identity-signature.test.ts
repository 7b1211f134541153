import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { Secret } from '../../kernel/secret.ts'
import { SIGNATURE_HEADER } from '../../kernel/identity-signature.ts'
import { IdentitySignature } from './identity-signature.ts'

const OLD = new Secret('the key before, of thirty-two bytes')
const NEW = new Secret('the key of today, of thirty-two bytes')
const HEADERS = {
  'x-user-id': 'u-1',
  'x-user-name': 'ada',
  'x-user-roles': 'devops,auditor',
  'x-forwarded-for': '192.0.2.1',
  'x-request-id': 'r-1',
}

function signed(signature: IdentitySignature, headers: Record<string, string> = HEADERS) {
  return { ...headers, [SIGNATURE_HEADER]: signature.sign(headers) }
}

test('headers that a program of the installation has signed are accepted', () => {
  const signature = new IdentitySignature([NEW], fakeClock())
  assert.equal(signature.verify({ headers: signed(signature) }), true)
  assert.equal(signature.verify({ headers: signed(signature, {}) }), true)
  assert.equal(signature.verify({ headers: { ...signed(signature), accept: '*/*' } }), true)
})

test('no signed header can be changed, added, removed or moved to another name', () => {
  const signature = new IdentitySignature([NEW], fakeClock())
  for (const name of Object.keys(HEADERS)) {
    const { [name]: value, ...others }: Record<string, string> = signed(signature)
    assert.equal(signature.verify({ headers: others }), false, `without ${name}`)
    assert.equal(signature.verify({ headers: { ...others, [name]: `${value}x` } }), false, `another ${name}`)
  }
  const { 'x-user-id': _id, ...without } = HEADERS
  assert.equal(signature.verify({ headers: { ...signed(signature, without), 'x-user-id': 'u-1' } }), false)
  assert.equal(
    signature.verify({ headers: { ...signed(signature), 'x-user-id': 'ada', 'x-user-name': 'u-1' } }),
    false,
  )
})

test('a signature is of this installation, during a rotation of its key too', () => {
  const clock = fakeClock()
  const current = new IdentitySignature([NEW, OLD], clock)
  assert.equal(current.verify({ headers: signed(new IdentitySignature([OLD], clock)) }), true)
  assert.equal(new IdentitySignature([OLD], clock).verify({ headers: signed(current) }), false)
  for (const text of [
    '',
    't=1',
    't=1,v1=',
    `${current.sign(HEADERS)}x`,
    `t=9,${current.sign(HEADERS).split(',')[1]}`,
  ])
    assert.equal(current.verify({ headers: { ...HEADERS, [SIGNATURE_HEADER]: text } }), false, text)
})

test('a signature is accepted for a minute, by a clock that differs by as much', () => {
  const clock = fakeClock()
  const signature = new IdentitySignature([NEW], clock)
  const headers = signed(signature)
  clock.jump(60_000)
  assert.equal(signature.verify({ headers }), true)
  clock.jump(1)
  assert.equal(signature.verify({ headers }), false)
  clock.jump(-120_001)
  assert.equal(signature.verify({ headers }), true)
  clock.jump(-1)
  assert.equal(signature.verify({ headers }), false)
})

test('a signature of a tool is for one method and one target', () => {
  const signature = new IdentitySignature([NEW, OLD], fakeClock())
  const request = { method: 'POST', url: '/alerts/report', headers: HEADERS }
  const headers = { ...HEADERS, [SIGNATURE_HEADER]: signature.signRequest(request) }
  assert.equal(signature.verify({ ...request, headers }), true)
  for (const [what, other] of [
    ['another method', { method: 'PUT' }],
    ['another path', { url: '/users' }],
    ['a query', { url: '/alerts/report?' }],
    [
      'the signature of a gateway',
      { headers: { ...headers, [SIGNATURE_HEADER]: headers[SIGNATURE_HEADER]?.replace('v2', 'v1') } },
    ],
    ['another user', { headers: { ...headers, 'x-user-id': 'admin' } }],
  ] as const)
    assert.equal(signature.verify({ ...request, headers, ...other }), false, what)
})
