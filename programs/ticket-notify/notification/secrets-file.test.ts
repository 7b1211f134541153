import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { readSecrets } from './secrets-file.ts'

function secretsFile(content: string, mode = 0o600) {
  const directory = mkdtempSync(join(tmpdir(), 'platform-secrets-'))
  const path = join(directory, 'notify.env')
  writeFileSync(path, content)
  chmodSync(path, mode)
  return { path, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) }
}

const valuesOf = (path: string) => {
  const secrets = readSecrets(path)
  if ('problem' in secrets) assert.fail(secrets.problem)
  return Object.fromEntries([...secrets.values].map(([key, value]) => [key, value.reveal()]))
}

test('known keys with a value are read, as in an environment file', () => {
  using file = secretsFile(
    [
      '# the channels',
      'MAIL_SMTP_URL=smtp://user:p%40ss=word@mail:587/?a=b#c',
      '  export MAIL_FROM = "Platform <p@example.com>"  ',
      "MAIL_TO='a@example.com, b@example.com'\r",
      'ROBOT_URL=',
      'OTHER=canary',
      'no line of this kind',
    ].join('\n'),
  )
  assert.deepEqual(valuesOf(file.path), {
    MAIL_SMTP_URL: 'smtp://user:p%40ss=word@mail:587/?a=b#c',
    MAIL_FROM: 'Platform <p@example.com>',
    MAIL_TO: 'a@example.com, b@example.com',
  })
})

test('a missing file has no credentials', () => {
  assert.deepEqual(valuesOf('/nonexistent/notify.env'), {})
})

for (const mode of [0o640, 0o604, 0o644, 0o660, 0o620, 0o666, 0o777]) {
  test(`a file with mode ${mode.toString(8)} is refused without showing its content`, () => {
    using file = secretsFile('ROBOT_URL=https://canary/', mode)
    const secrets = readSecrets(file.path)
    assert.ok('problem' in secrets && /chmod 600/.test(secrets.problem))
    assert.ok(!inspect(secrets).includes('canary'))
  })
}

test('a file that only its owner can access is accepted', () => {
  for (const mode of [0o600, 0o400]) {
    using file = secretsFile('ROBOT_KIND=slack', mode)
    assert.deepEqual(valuesOf(file.path), { ROBOT_KIND: 'slack' })
  }
})

test('a file that cannot be read is a problem, not a missing file', () => {
  using file = secretsFile('')
  rmSync(file.path)
  mkdirSync(file.path, { mode: 0o700 })
  assert.ok('problem' in readSecrets(file.path))
})

test('printed credentials are redacted', () => {
  using file = secretsFile('ROBOT_SECRET=canary')
  const secrets = readSecrets(file.path)
  assert.ok(!inspect(secrets).includes('canary'))
  assert.ok(!JSON.stringify(secrets).includes('canary'))
})
