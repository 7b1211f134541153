import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { identityKeyOf, isSigned, SIGNATURE_HEADER } from '../../src/kernel/identity-signature.ts'
import { temporaryDirectory } from '../../test/support/platform.ts'
import { startTicketApi } from '../../test/support/ticket-api.ts'
import { fetchTickets } from './api.ts'
import { requestSigner } from './identity-key.ts'

const KEY = identityKeyOf('a key of thirty-two bytes or more')

test('a round with the key of the platform signs its requests', async () => {
  using directory = temporaryDirectory()
  await using api = await startTicketApi()
  const path = join(directory.path, 'identity-key')
  writeFileSync(path, `${KEY.toString('base64url')}\n`, { mode: 0o600 })
  const sign = requestSigner(path, () => 5_000)
  const identity = { name: 'ticket-notify', roles: 'service' }
  await fetchTickets({ api: api.url, limit: 7, identity, sign, signal: new AbortController().signal })
  const { method, url, headers } = api.requests[0] ?? assert.fail()
  assert.match(String(headers[SIGNATURE_HEADER]), /^t=5,v2=/)
  assert.equal(isSigned([KEY], 5_000, { method, url, headers }), true)
})

test('without a key nothing is signed, and a key that others can read, or another file, is refused', () => {
  using directory = temporaryDirectory()
  const path = join(directory.path, 'identity-key')
  assert.equal(
    requestSigner(path, () => 0),
    undefined,
  )
  writeFileSync(path, 'canary', { mode: 0o600 })
  const named = (reason: RegExp) => ({ message: reason, name: 'UsageError' })
  assert.throws(() => requestSigner(path, () => 0), named(/KEY_FILE: .*: expected the file identity-key of/))
  chmodSync(path, 0o644)
  assert.throws(() => requestSigner(path, () => 0), named(/KEY_FILE: .*: group or others have access/))
})
