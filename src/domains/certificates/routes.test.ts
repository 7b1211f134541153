import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CERTIFICATE, freshCertificate } from '../../../test/support/certificate-sample.ts'
import { certificateWorld } from '../../../test/support/certificate-world.ts'
import { startRouteServer, type RouteCall } from '../../../test/support/route-server.ts'
import { certificateRoutes } from './routes.ts'

const NOW = '2026-01-31T02:00:00.000Z'
const FINGERPRINT = 'd4776b7879864ca0325d37b6ff7720cc3d01196ed76c4102225a09ce86c31cda'
const KEY =
  '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n'

async function startApi() {
  await using opening = new AsyncDisposableStack()
  const { store, clock, service, directory } = opening.use(await certificateWorld('sqlite'))
  const server = opening.use(await startRouteServer({ store, clock, routes: certificateRoutes(service) }))
  const opened = opening.move()
  const send = (method: string, path: string, options: RouteCall = {}) =>
    server.send(method, path, { role: 'admin', ...options })
  const call = async (method: string, path: string, options: RouteCall = {}) => {
    const response = await send(method, path, options)
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  return { call, send, clock, directory, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const register = (pem: string, name = 'shop') => ({ body: { name, pem } })

test('a certificate is registered with 201, and read with all its fields', async () => {
  await using api = await startApi()
  const { status, body } = await api.call('POST', '/certificates', register(`text\n${CERTIFICATE}more`))
  assert.equal(status, 201)
  const { id, fingerprint_sha256, ...others } = body
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  assert.deepEqual(others, {
    name: 'shop',
    serial: '15B875C1C1524C9D6F4B65C72A19B3A4CEAB4F3C',
    subject: 'CN=shop.example.com,O=Shop',
    issuer: 'CN=shop.example.com,O=Shop',
    names: ['shop.example.com', 'www.example.com'],
    not_before: '2026-01-01T00:00:00.000Z',
    not_after: '2126-01-01T00:00:00.000Z',
    days_left: 36_494,
    key: 'ed25519',
    signature: 'ED25519',
    is_ca: false,
    chain: [],
    status: 'valid',
    warnings: ['self_signed'],
    replaced_by: null,
    revoked_at: null,
    revoke_reason: null,
    created_by: 'anna',
    created_at: NOW,
    version: 1,
  })
  assert.equal(fingerprint_sha256, FINGERPRINT)
  assert.deepEqual(await api.call('GET', `/certificates/${id}`), { status: 200, body })
  assert.deepEqual((await api.call('GET', '/certificates')).body, { items: [body], next_cursor: null })
})

test('the PEM is read as a file, without the text that came with it', async () => {
  await using api = await startApi()
  const chained = `subject=…\n${CERTIFICATE.replaceAll('\n', '\r\n')}\nissuer=…\n${freshCertificate()}`
  const { body } = await api.call('POST', '/certificates', register(chained))
  const answer = await api.send('GET', `/certificates/${body.id}/pem`, { role: 'auditor' })
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'application/x-pem-file'])
  assert.equal(
    answer.headers.get('content-disposition'),
    `attachment; filename="${body.fingerprint_sha256}.pem"`,
  )
  const pem = await answer.text()
  assert.ok(pem.startsWith(CERTIFICATE))
  assert.doesNotMatch(pem, /=…|\r/)
  assert.equal(body.chain.length, 1)
  rmSync(join(api.directory, `${body.fingerprint_sha256}.pem`))
  const gone = await api.call('GET', `/certificates/${body.id}/pem`)
  assert.deepEqual([gone.status, gone.body.code], [503, 'certificate_file_unavailable'])
  assert.deepEqual(await api.call('POST', '/certificates', register(chained, 'again')), { status: 200, body })
  const repaired = await api.send('GET', `/certificates/${body.id}/pem`, { role: 'auditor' })
  assert.equal(await repaired.text(), pem)
  assert.equal((await api.call('POST', '/certificates', register(chained))).status, 409)
})

test('the same certificate again is 409, also with another chain; with its Idempotency-Key it is the first answer', async () => {
  await using api = await startApi()
  const headers = { 'idempotency-key': 'once' }
  const first = await api.call('POST', '/certificates', { ...register(CERTIFICATE), headers })
  assert.deepEqual(await api.call('POST', '/certificates', { ...register(CERTIFICATE), headers }), first)
  for (const pem of [CERTIFICATE, CERTIFICATE + freshCertificate()]) {
    const refused = await api.call('POST', '/certificates', register(pem, 'again'))
    assert.deepEqual([refused.status, refused.body.code], [409, 'certificate_exists'])
    assert.match(refused.body.message, new RegExp(FINGERPRINT))
  }
  assert.equal((await api.send('GET', `/certificates/${first.body.id}/pem`)).status, 200)
})

test('a private key is refused in any field, and nothing of the request is stored', async () => {
  await using api = await startApi()
  const { body: known } = await api.call('POST', '/certificates', register(CERTIFICATE))
  const before = readdirSync(api.directory)
  const requests: readonly (readonly [path: string, body: unknown])[] = [
    ['/certificates', { name: 'shop', pem: freshCertificate() + KEY }],
    ['/certificates', { name: 'shop', pem: KEY }],
    ['/certificates', { name: KEY.split('\n')[1], pem: freshCertificate() }],
    [`/certificates/${known.id}/revoke`, { reason: KEY }],
  ]
  for (const [path, body] of requests) {
    const refused = await api.call('POST', path, { body })
    assert.deepEqual([refused.status, refused.body.code], [400, 'private_key_refused'])
    assert.doesNotMatch(JSON.stringify(refused.body), /MC4C|9JLsLM/)
  }
  assert.deepEqual(readdirSync(api.directory), before)
  assert.deepEqual((await api.call('GET', '/certificates')).body.items, [known])
})

const REFUSED: readonly (readonly [what: string, body: unknown, code: string, path: string])[] = [
  ['without a name', { pem: CERTIFICATE }, 'validation_failed', 'name'],
  ['with an empty name', { name: '', pem: CERTIFICATE }, 'validation_failed', 'name'],
  ['with a name of 101 characters', { name: 'x'.repeat(101), pem: CERTIFICATE }, 'validation_failed', 'name'],
  ['without a PEM', { name: 'shop' }, 'validation_failed', 'pem'],
  ['with an unknown field', { name: 'shop', pem: CERTIFICATE, key: 'x' }, 'validation_failed', 'key'],
  ['with text instead of a PEM', { name: 'shop', pem: 'text' }, 'invalid_certificate', 'pem'],
]

for (const [what, body, code, path] of REFUSED) {
  test(`a certificate ${what} is refused, and the field is named`, async () => {
    await using api = await startApi()
    const refused = await api.call('POST', '/certificates', { body })
    assert.deepEqual([refused.status, refused.body.code, refused.body.details[0].path], [400, code, path])
  })
}

test('revoking is 200 with or without a reason, and again 200 without a change', async () => {
  await using api = await startApi()
  const { body: first } = await api.call('POST', '/certificates', register(freshCertificate()))
  const { body: second } = await api.call('POST', '/certificates', register(freshCertificate()))
  api.clock.advance(1_000)
  const revoke = (id: string, body?: unknown) => api.call('POST', `/certificates/${id}/revoke`, { body })
  const revoked = await revoke(first.id, { reason: 'The key was lost.' })
  assert.equal(revoked.status, 200)
  assert.deepEqual(revoked.body, {
    ...first,
    status: 'revoked',
    revoked_at: '2026-01-31T02:00:01.000Z',
    revoke_reason: 'The key was lost.',
    version: 2,
  })
  api.clock.advance(1_000)
  assert.deepEqual(await revoke(first.id, { reason: 'Another one.' }), revoked)
  const bare = await revoke(second.id)
  assert.deepEqual([bare.status, bare.body.status, bare.body.revoke_reason], [200, 'revoked', null])
})

test('deleting is 204, the file is removed before the answer, and the certificate is 404 everywhere', async () => {
  await using api = await startApi()
  const { body } = await api.call('POST', '/certificates', register(CERTIFICATE))
  assert.equal(readFileSync(join(api.directory, `${body.fingerprint_sha256}.pem`), 'utf8'), CERTIFICATE)
  const forbidden = await api.call('DELETE', `/certificates/${body.id}`, { role: 'devops' })
  assert.equal(forbidden.status, 403)
  assert.equal((await api.call('DELETE', `/certificates/${body.id}`)).status, 204)
  assert.deepEqual(readdirSync(api.directory), [])
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/pem'],
    ['POST', '/revoke'],
    ['DELETE', ''],
  ] as const) {
    const unknown = await api.call(method, `/certificates/${body.id}${path}`)
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'certificate_not_found'])
  }
  assert.equal((await api.call('POST', '/certificates', register(CERTIFICATE))).status, 201)
})

test('the list is sorted by the end, page by page; a cursor of the other order is refused', async () => {
  await using api = await startApi()
  for (let count = 0; count < 3; count++)
    await api.call('POST', '/certificates', register(freshCertificate(), `${count}`))
  const namesOf = (body: { items: { name: string }[] }) => body.items.map(({ name }) => name)
  const first = await api.call('GET', '/certificates?sort=not_after&limit=2')
  const cursor = encodeURIComponent(first.body.next_cursor)
  const second = await api.call('GET', `/certificates?sort=not_after&limit=2&cursor=${cursor}`)
  assert.deepEqual([...namesOf(first.body), ...namesOf(second.body)], ['0', '1', '2'])
  assert.deepEqual(namesOf((await api.call('GET', '/certificates?sort=created_at')).body), ['2', '1', '0'])
  for (const query of [
    `cursor=${cursor}`,
    'sort=name',
    'status=lost',
    'expires_before=soon',
    'expires_before=2026-02-30T00:00:00Z',
  ]) {
    const refused = await api.call('GET', `/certificates?${query}`)
    assert.deepEqual([refused.status, refused.body.code], [400, 'validation_failed'], query)
  }
  const before = encodeURIComponent('2126-01-01T01:00:00+01:00')
  assert.deepEqual(namesOf((await api.call('GET', `/certificates?expires_before=${before}`)).body), [])
  const later = await api.call('GET', '/certificates?expires_before=2126-01-01T00:00:00.001Z&status=valid')
  assert.equal(later.body.items.length, 3)
})
