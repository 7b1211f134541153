import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  Decrypter,
  Encrypter,
  generateHybridIdentity,
  generateX25519Identity,
  identityToRecipient,
} from 'age-encryption'
import { readAll } from '../../../test/support/drive-world.ts'
import { seal, unseal } from './age.ts'

async function* inPieces(bytes: Uint8Array, length: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

const SIZES = [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000]

for (const generate of [generateX25519Identity, generateHybridIdentity]) {
  test(`the library opens what is sealed here, and the other way round (${generate.name})`, async () => {
    const identity = await generate()
    const recipient = await identityToRecipient(identity)
    for (const size of SIZES) {
      const content = randomBytes(size)
      const decrypter = new Decrypter()
      decrypter.addIdentity(identity)
      const here = await readAll(seal(inPieces(content, 10_000), [recipient]))
      assert.deepEqual(Buffer.from(await decrypter.decrypt(here)), content)
      const encrypter = new Encrypter()
      encrypter.addRecipient(recipient)
      const there = Buffer.from(await encrypter.encrypt(content))
      assert.deepEqual(await readAll(unseal(inPieces(there, 1_000), [identity])), content)
    }
  })
}

test('chunks that are cut off, swapped or added are refused', async () => {
  const identity = await generateX25519Identity()
  const whole = await readAll(
    seal(inPieces(randomBytes(200_000), 50_000), [await identityToRecipient(identity)]),
  )
  const chunk = 65_536 + 16
  const start = whole.length - (200_000 % 65_536) - 16 - 3 * chunk
  const [first, second] = [
    whole.subarray(start, start + chunk),
    whole.subarray(start + chunk, start + 2 * chunk),
  ]
  const head = whole.subarray(0, start)
  const rest = whole.subarray(start + 2 * chunk)
  for (const damaged of [
    whole.subarray(0, start + 2 * chunk),
    whole.subarray(0, -1),
    whole.subarray(0, start),
    Buffer.concat([head, second, first, rest]),
    Buffer.concat([head, first, first, second, rest]),
    Buffer.concat([whole, Buffer.alloc(16)]),
  ])
    await assert.rejects(readAll(unseal(inPieces(damaged, 40_000), [identity])))
})

test('a recipient is checked before anything is sealed', async () => {
  for (const wrong of ['', 'age1nonsense', 'ssh-ed25519 AAAA', await generateX25519Identity()]) {
    let isRead = false
    const content = async function* () {
      isRead = true
      yield Buffer.from('secret')
    }
    await assert.rejects(readAll(seal(content(), [wrong])))
    assert.equal(isRead, false)
  }
})
