import assert from 'node:assert/strict'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { CERTIFICATE } from '../../../../test/support/certificate-sample.ts'
import { readCertificateFile } from './certificate-file.ts'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

test('a certificate in DER becomes PEM, and one in PEM stays as it is', async () => {
  const { raw } = new X509Certificate(CERTIFICATE)
  assert.deepEqual(await readCertificateFile(new Blob([Uint8Array.from(raw)])), { text: CERTIFICATE })
  assert.deepEqual(await readCertificateFile(new Blob([CERTIFICATE])), { text: CERTIFICATE })
})

const KEYS = {
  'PKCS #8': { type: 'pkcs8', format: 'der' },
  'PKCS #8, encrypted': { type: 'pkcs8', format: 'der', cipher: 'aes-256-cbc', passphrase: 'a phrase' },
  'SEC 1': { type: 'sec1', format: 'der' },
} as const

for (const [name, encoding] of Object.entries(KEYS)) {
  test(`a key (${name}) is not read`, async () => {
    const key = privateKey.export(encoding as { type: 'pkcs8'; format: 'der' })
    const content = await readCertificateFile(new Blob([Uint8Array.from(key)]))
    assert.deepEqual(Object.keys(content), ['fault'])
  })
}

test('a key in PEM is not read, also beside a certificate', async () => {
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' })
  for (const text of [key, CERTIFICATE + key.toString()])
    assert.match(JSON.stringify(await readCertificateFile(new Blob([text.toString()]))), /private key/)
})

for (const bytes of [[], [0x30], [0x30, 0x82], [0x30, 0x80, 0x30, 0x80]]) {
  test(`the bytes ${JSON.stringify(bytes)} are no certificate`, async () => {
    const content = await readCertificateFile(new Blob([Uint8Array.from(bytes)]))
    assert.deepEqual(Object.keys(content), ['fault'])
  })
}
