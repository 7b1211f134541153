import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ValueError } from '../mock-server/value-error.ts'
import { readMockPayConfig } from './env.ts'

test('without variables the defaults apply, and an empty variable counts as unset', () => {
  const config = readMockPayConfig({ MOCK_PAY_PORT: '', MOCK_PAY_SECRETS_DIR: '' })
  assert.deepEqual(
    [config.bind, config.port, config.callbackUrl, config.secretsDirectory, config.scenarios, config.log],
    ['127.0.0.1', 8090, 'http://127.0.0.1:9989/payments/callbacks', undefined, [], false],
  )
})

for (const [name, value] of [
  ['MOCK_PAY_BIND', '0.0.0.0'],
  ['MOCK_PAY_PORT', '65536'],
  ['MOCK_PAY_CALLBACK_URL', 'http://shop.example.org/payments/callbacks'],
  ['MOCK_PAY_CALLBACK_URL', 'https://127.0.0.1/payments/callbacks'],
  ['MOCK_PAY_CALLBACK_URL', 'http://127.0.0.1/payments/callbacks?a=1'],
  ['MOCK_PAY_SECRETS_DIR', '/proc/1'],
  ['MOCK_PAY_SCENARIOS', '{'],
  ['MOCK_PAY_LOG', 'yes'],
] as const)
  test(`${name}=${value} is an error that names both`, () => {
    assert.throws(
      () => readMockPayConfig({ [name]: value }),
      (error: unknown) =>
        error instanceof ValueError &&
        error.message.startsWith(`${name}: `) &&
        error.message.includes(JSON.stringify(value)),
    )
  })

test('a wrong scenario is named with its position', () => {
  const read = (item: unknown) => () => readMockPayConfig({ MOCK_PAY_SCENARIOS: JSON.stringify([item]) })
  assert.throws(read(1), /expected an object in item 0, got 1/)
  assert.throws(read({}), /"kind" to be one of .* in item 0, got nothing/)
  assert.throws(read({ kind: 'lost', on: 'create' }), /"on" of lost to be one of callback/)
  assert.throws(read({ kind: 'lost', on: 'callback', channel: 'cash' }), /"channel" to be one of stripe/)
  assert.throws(read({ kind: 'lost', on: 'callback', delay_ms: 1 }), /only channel, on, kind for lost/)
  assert.throws(read({ kind: 'delay', on: 'create', delay_ms: -1 }), /"delay_ms" to be an integer from 0/)
})
