import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { promisify } from 'node:util'
import { ConfigError } from './config-error.ts'
import { readJwtSecret, readMirrorToken, readOrCreateJwtSecret } from './secrets.ts'

const CHOSEN = '9fK2pX7vQmB4tZ8nLw3RsY6jHd0cGaUe'

let dataDir: string
let path: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'secrets-'))
  path = join(dataDir, 'jwt-secret')
})

afterEach(() => {
  rmSync(dataDir, { recursive: true })
})

function refusal(): string {
  try {
    readOrCreateJwtSecret(dataDir)
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error))
    return error.message
  }
  return assert.fail('the secret was accepted')
}

test('a secret is generated on first start, readable by its owner only, and kept', () => {
  const made = readOrCreateJwtSecret(dataDir).reveal()
  assert.equal(Buffer.from(made, 'base64url').length, 48)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(readOrCreateJwtSecret(dataDir).reveal(), made)
  assert.deepEqual(readdirSync(dataDir), ['jwt-secret'])
})

test('a secret that was not generated yet is not generated to be read', () => {
  assert.equal(readJwtSecret(dataDir), undefined)
  assert.deepEqual(readdirSync(dataDir), [])
  const made = readOrCreateJwtSecret(dataDir).reveal()
  assert.equal(readJwtSecret(dataDir)?.reveal(), made)
})

test(
  'a secret that root has copied leads to the command that gives it to the user',
  { skip: process.getuid?.() !== 0 && 'only root can become another user' },
  () => {
    writeFileSync(path, CHOSEN, { mode: 0o600 })
    process.seteuid?.(65_534)
    try {
      assert.match(
        refusal(),
        /the user 65534 can read \(run as root: chown -R 65534:\d+ \S+secrets-\w+;.*got EACCES/,
      )
    } finally {
      process.seteuid?.(0)
    }
  },
)

test('two data directories have two secrets', () => {
  const other = readOrCreateJwtSecret(join(dataDir, 'other', 'inner')).reveal()
  assert.notEqual(readOrCreateJwtSecret(dataDir).reveal(), other)
})

test('the umask does not matter', () => {
  const before = process.umask(0o777)
  try {
    readOrCreateJwtSecret(dataDir)
  } finally {
    process.umask(before)
  }
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('a secret that the operator wrote is read without its line feed', () => {
  writeFileSync(path, `${CHOSEN}\n`, { mode: 0o400 })
  assert.equal(readOrCreateJwtSecret(dataDir).reveal(), CHOSEN)
})

for (const mode of [0o640, 0o604, 0o620, 0o601]) {
  test(`a secret of mode ${mode.toString(8)} is refused, with the command that corrects it`, () => {
    writeFileSync(path, 'canary'.repeat(10))
    chmodSync(path, mode)
    assert.equal(
      refusal(),
      `file ${path}: auth.jwt_secret: expected mode 600, for its owner alone (run: chmod 600 ${path}), got mode ${mode.toString(8)}`,
    )
  })
}

for (const text of ['', 'canary\n', `canary${' '.repeat(40)}`]) {
  test(`a secret that is too short is refused and not changed: ${JSON.stringify(text)}`, () => {
    writeFileSync(path, text, { mode: 0o600 })
    const message = refusal()
    assert.match(message, /expected a secret of at least 32 bytes/)
    assert.doesNotMatch(message, /canary/)
    assert.equal(readFileSync(path, 'utf8'), text)
  })
}

test('a directory or a dangling link is refused', () => {
  mkdirSync(path, { mode: 0o700 })
  assert.match(refusal(), /got EISDIR$/)
  rmSync(path, { recursive: true })
  symlinkSync('nowhere', path)
  assert.match(refusal(), /got a link to nothing$/)
})

test('a data directory that cannot be made is refused', () => {
  writeFileSync(path, '')
  assert.throws(() => readOrCreateJwtSecret(join(path, 'inner')), ConfigError)
})

test('processes that start at once agree on one secret', async () => {
  const module = new URL('secrets.ts', import.meta.url).href
  const script = `const { readOrCreateJwtSecret } = await import(${JSON.stringify(module)})
    process.stdout.write(readOrCreateJwtSecret(process.argv[1]).reveal())`
  const start = (): Promise<{ stdout: string }> =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, dataDir])
  const secrets = (await Promise.all(Array.from({ length: 6 }, start))).map(({ stdout }) => stdout)
  assert.equal(new Set(secrets).size, 1)
  assert.equal(`${secrets[0]}\n`, readFileSync(path, 'utf8'))
  assert.deepEqual(readdirSync(dataDir), ['jwt-secret'])
})

test('the token of a standby is the whole text of its file', () => {
  writeFileSync(path, 'aaa.bbb.ccc\n', { mode: 0o600 })
  assert.equal(readMirrorToken(path).reveal(), 'aaa.bbb.ccc')
})

const UNUSABLE_TOKEN_FILES = [
  {
    name: 'that others can read',
    prepare: () => writeFileSync(path, 'aaa', { mode: 0o640 }),
    expected: /mode 600.*got mode 640/,
  },
  {
    name: 'that is empty',
    prepare: () => writeFileSync(path, '\n', { mode: 0o600 }),
    expected: /expected a token/,
  },
  {
    name: 'with two lines',
    prepare: () => writeFileSync(path, 'aaa\nbbb', { mode: 0o600 }),
    expected: /expected a token/,
  },
  {
    name: 'that is too large',
    prepare: () => writeFileSync(path, 'a'.repeat(8_193), { mode: 0o600 }),
    expected: /at most 8192 bytes/,
  },
  {
    name: 'that is a directory',
    prepare: () => mkdirSync(path, { mode: 0o700 }),
    expected: /a regular file/,
  },
  { name: 'that is missing', prepare: () => undefined, expected: /can read, got ENOENT/ },
]
for (const { name, prepare, expected } of UNUSABLE_TOKEN_FILES) {
  test(`a token file ${name} is refused with its setting, without its content`, () => {
    prepare()
    assert.throws(
      () => readMirrorToken(path),
      (error) => {
        assert.ok(error instanceof ConfigError)
        assert.match(error.message, expected)
        assert.match(error.message, /gateway\.mirror_token_file/)
        assert.doesNotMatch(error.message, /aaa/)
        return true
      },
    )
  })
}
