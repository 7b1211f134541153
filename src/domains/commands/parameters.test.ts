import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../kernel/errors.ts'
import { Secret } from '../../kernel/secret.ts'
import { argumentsOf, checkParameters, parametersSchema, secretEnvironment } from './parameters.ts'
import { SecretBox } from './secret-box.ts'

const PARAMS = {
  unit: { type: 'string', pattern: '^[a-z-]+$', default: 'nginx' },
  lines: { type: 'integer', default: 10 },
  force: { type: 'boolean', default: false },
  mode: { type: 'enum', values: ['soft', 'hard'], description: 'How.' },
  keep: { type: 'integer', minimum: 1, maximum: 1_000, default: 7 },
  'api-key': { type: 'string', isSecret: true },
} as const

const VALID = { mode: 'soft', 'api-key': 'k' }

function faultsOf(given: Record<string, unknown>): string[] {
  try {
    checkParameters(PARAMS, given)
    return []
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'validation_failed')
    return (error.details ?? []).map(({ path, message }) => `${path} ${message}`)
  }
}

test('defaults are filled in, and secrets are apart', () => {
  assert.deepEqual(checkParameters(PARAMS, VALID), {
    redacted: { unit: 'nginx', lines: 10, force: false, mode: 'soft', keep: 7, 'api-key': '**redacted**' },
    secrets: { 'api-key': 'k' },
  })
  assert.deepEqual(secretEnvironment({ 'api-key': 'k', pin: 7 }), { PARAM_API_KEY: 'k', PARAM_PIN: '7' })
})

for (const [given, faults] of [
  [{}, ['params.mode is required', 'params.api-key is required']],
  [{ ...VALID, extra: 1 }, ['params.extra is not a known parameter']],
  [{ ...VALID, toString: 1 }, ['params.toString is not a known parameter']],
  [{ ...VALID, unit: 'A' }, ['params.unit must match ^[a-z-]+$']],
  [{ ...VALID, unit: 'a\n' }, ['params.unit must match ^[a-z-]+$']],
  [{ ...VALID, unit: 1 }, ['params.unit must be a string']],
  [{ ...VALID, unit: null }, ['params.unit must be a string']],
  [{ ...VALID, 'api-key': 'a\0b' }, ['params.api-key must not contain NUL or half a surrogate pair']],
  [{ ...VALID, 'api-key': '\ud800' }, ['params.api-key must not contain NUL or half a surrogate pair']],
  [{ ...VALID, 'api-key': 'x'.repeat(8_193) }, ['params.api-key must have at most 8192 characters']],
  [{ ...VALID, lines: 1.5 }, ['params.lines must be an integer']],
  [{ ...VALID, lines: '10' }, ['params.lines must be an integer']],
  [{ ...VALID, keep: 0 }, ['params.keep must be an integer from 1 to 1000']],
  [{ ...VALID, keep: 1_001 }, ['params.keep must be an integer from 1 to 1000']],
  [{ ...VALID, keep: '7' }, ['params.keep must be an integer from 1 to 1000']],
  [{ ...VALID, force: 'true' }, ['params.force must be true or false']],
  [{ ...VALID, mode: 'Soft' }, ['params.mode must be one of soft, hard']],
] as const) {
  test(`the parameters ${JSON.stringify(given).slice(0, 60)} are refused`, () => {
    assert.deepEqual(faultsOf(given), faults)
  })
}

test('the message about a wrong secret does not contain it', () => {
  assert.ok(!JSON.stringify(faultsOf({ ...VALID, 'api-key': 'CANARY\0' })).includes('CANARY'))
})

test('parameters of more than 64 KiB together are refused', () => {
  const many = Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`p${index}`, { type: 'string' as const }]),
  )
  const given = Object.fromEntries(Object.keys(many).map((name) => [name, 'x'.repeat(8_000)]))
  assert.throws(() => checkParameters(many, given), { code: 'validation_failed' })
})

test('each argument stays one argument, and a value is not searched for placeholders', () => {
  const run = ['prog', '{text}', '--lines={lines}', '{ print }', '{text}{text}']
  const text = '; $(id) `id` && -- \n "{lines}"'
  assert.deepEqual(argumentsOf({ run }, { text, lines: 3 }), [
    'prog',
    text,
    '--lines=3',
    '{ print }',
    text + text,
  ])
})

test('the JSON Schema of the parameters', () => {
  assert.deepEqual(parametersSchema(PARAMS), {
    type: 'object',
    properties: {
      unit: { type: 'string', pattern: '^[a-z-]+$', default: 'nginx' },
      lines: { type: 'integer', default: 10 },
      force: { type: 'boolean', default: false },
      mode: { type: 'string', enum: ['soft', 'hard'], description: 'How.' },
      keep: { type: 'integer', minimum: 1, maximum: 1_000, default: 7 },
      'api-key': { type: 'string', writeOnly: true },
    },
    required: ['mode', 'api-key'],
    additionalProperties: false,
  })
})

test('sealed secrets are opened only with the same key and for the same execution', () => {
  const box = new SecretBox(() => [new Secret('one key')])
  const sealed = box.seal('execution', { key: 'hunter2' }) ?? ''
  assert.ok(!Buffer.from(sealed, 'base64').includes('hunter2'))
  assert.deepEqual(box.open('execution', sealed), { key: 'hunter2' })
  assert.throws(() => box.open('another', sealed), { code: 'secrets_unreadable' })
  assert.throws(() => new SecretBox(() => [new Secret('another key')]).open('execution', sealed), {
    code: 'secrets_unreadable',
  })
  const rotated = new SecretBox(() => [new Secret('another key'), new Secret('one key')])
  assert.deepEqual(rotated.open('execution', sealed), { key: 'hunter2' })
  assert.throws(() => box.open('execution', rotated.seal('execution', { key: 'hunter2' })), {
    code: 'secrets_unreadable',
  })
  assert.equal(box.seal('execution', {}), null)
  assert.deepEqual(box.open('execution', null), {})
})
