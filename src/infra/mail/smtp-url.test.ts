import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { parseSmtpUrl } from './smtp-url.ts'

const requiresTls = (url: string) => parseSmtpUrl(url).searchParams.get('requireTLS')

for (const host of [
  'mail.example.com',
  '0.0.0.0',
  '10.0.0.1',
  '128.0.0.1',
  '127.1',
  'localhost.example.com',
  '[::2]',
]) {
  test(`a password for ${host} needs TLS`, () => {
    assert.equal(requiresTls(`smtp://user:canary@${host}:587/`), 'true')
    assert.equal(requiresTls(`smtp://user:canary@${host}:587/?requireTLS=true`), 'true')
    for (const value of ['false', '0', '', 'true&requireTLS=false']) {
      assert.throws(
        () => parseSmtpUrl(`smtp://user:canary@${host}/?requireTLS=${value}`),
        (error: Error) => /needs TLS/.test(error.message) && !inspect(error).includes('canary'),
      )
    }
  })
}

for (const host of ['127.0.0.1', '127.8.9.10', 'localhost', 'LOCALHOST', '[::1]', '[::ffff:127.0.0.1]']) {
  test(`a password for ${host} needs no TLS, and may demand it`, () => {
    assert.equal(requiresTls(`smtp://user:canary@${host}:25/`), null)
    assert.equal(requiresTls(`smtp://user:canary@${host}:25/?requireTLS=true`), 'true')
  })
}

test('without a password, and with TLS from the start, nothing is added', () => {
  for (const url of ['smtp://mail.example.com', 'smtps://user:canary@mail.example.com'])
    assert.equal(requiresTls(url), null)
})

test('an address of another kind, or with another parameter, is refused without repeating it', () => {
  const parameters = [
    'pool=true',
    'logger=true',
    'debug=true',
    'proxy=http://canary',
    'ignoreTLS=true',
    'canary=1',
  ]
  const urls = ['canary', 'http://canary/', 'smtp://', ...parameters.map((each) => `smtp://canary/?${each}`)]
  for (const url of urls) {
    assert.throws(
      () => parseSmtpUrl(url),
      (error: Error) => !inspect(error).includes('canary'),
      url,
    )
  }
})
