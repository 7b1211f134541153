import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { testStore } from '../../test/support/store.ts'
import { silentLogger } from '../kernel/logger.ts'
import { Secret } from '../kernel/secret.ts'
import { DAY } from '../kernel/time.ts'
import { keyFault, openSigningKeys, readKnownKeys } from './signing-keys.ts'

const [OWN, FOREIGN, NEXT] = [1, 2, 3].map(() => new Secret(randomBytes(48).toString('base64'))) as [
  Secret,
  Secret,
  Secret,
]

async function openWorld() {
  const world = await testStore('sqlite')
  const errors: string[] = []
  const logger = { ...silentLogger, error: (_: object, message: string) => void errors.push(message) }
  const config = (...jwtSecrets: [Secret, ...Secret[]]) => ({
    auth: { jwtSecrets },
    dataDir: '/nowhere',
    readOnly: false,
  })
  return {
    errors,
    serve: (...keys: [Secret, ...Secret[]]) => openSigningKeys(config(...keys), world.store, logger),
    fault: async (key: Secret, at = Date.now()) =>
      keyFault(config(key), await readKnownKeys(world.store.read), at),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  }
}

test('the key of another installation is an error at the start, and a finding until it is put back', async () => {
  await using w = await openWorld()
  await w.serve(OWN)
  assert.equal(await w.fault(OWN), undefined)
  const before = await w.fault(FOREIGN)
  assert.deepEqual([before?.code, w.errors], ['key_changed', []])
  await w.serve(FOREIGN)
  assert.match(w.errors.join(), /^the signing key is another one than that of the last start/)
  assert.equal((await w.fault(FOREIGN))?.code, 'key_replaced')
  // Put back, while the platform runs with the other one.
  assert.equal((await w.fault(OWN))?.code, 'key_changed')
  await w.serve(OWN)
  assert.equal(await w.fault(OWN), undefined)
  assert.equal(w.errors.length, 1)
})

test('a rotation is no finding, and that of a replaced key ends with its tokens', async () => {
  await using w = await openWorld()
  await w.serve(OWN)
  await w.serve(NEXT, OWN)
  await w.serve(NEXT)
  assert.deepEqual([w.errors, await w.fault(NEXT)], [[], undefined])
  await w.serve(FOREIGN)
  assert.equal((await w.fault(FOREIGN))?.code, 'key_replaced')
  assert.equal(await w.fault(FOREIGN, Date.now() + 31 * DAY), undefined)
})
