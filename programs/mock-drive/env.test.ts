import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMockDriveConfig } from './env.ts'
import { ValueError } from '../mock-server/value-error.ts'

test('without variables the defaults apply, and an empty variable counts as unset', () => {
  const config = readMockDriveConfig({ MOCK_DRIVE_PORT: '', MOCK_DRIVE_DIR: '' })
  assert.deepEqual(
    [config.bind, config.port, config.quota, config.urlTtlMs, config.directory, config.driveId],
    ['127.0.0.1', 8089, 1024 ** 3, 3_600_000, undefined, undefined],
  )
})

test('sizes and times have units, or are bytes and seconds', () => {
  const read = (MOCK_DRIVE_QUOTA: string, MOCK_DRIVE_URL_TTL: string) => {
    const { quota, urlTtlMs } = readMockDriveConfig({ MOCK_DRIVE_QUOTA, MOCK_DRIVE_URL_TTL })
    return [quota, urlTtlMs]
  }
  assert.deepEqual(read('1000000', '2'), [1_000_000, 2_000])
  assert.deepEqual(read('64MiB', '500ms'), [64 * 1024 ** 2, 500])
})

const WRONG = [
  ['MOCK_DRIVE_BIND', '0.0.0.0'],
  ['MOCK_DRIVE_BIND', 'localhost'],
  ['MOCK_DRIVE_PORT', '65536'],
  ['MOCK_DRIVE_PORT', 'abc'],
  ['MOCK_DRIVE_QUOTA', '1GB'],
  ['MOCK_DRIVE_URL_TTL', '-1'],
  ['MOCK_DRIVE_TOKEN_TTL', 'soon'],
  ['MOCK_DRIVE_MIN_PART_SIZE', '1.5'],
  ['MOCK_DRIVE_LOG', 'yes'],
  ['MOCK_DRIVE_SCENARIOS', '{'],
] as const

for (const [name, value] of WRONG) {
  test(`${name}=${value} is an error that names both`, () => {
    assert.throws(
      () => readMockDriveConfig({ [name]: value }),
      (error: unknown) =>
        error instanceof ValueError &&
        error.message.startsWith(`${name}: `) &&
        error.message.includes(JSON.stringify(value)),
    )
  })
}

test('a wrong scenario is named with its position', () => {
  const read = (item: object) => () => readMockDriveConfig({ MOCK_DRIVE_SCENARIOS: JSON.stringify([item]) })
  assert.throws(read({}), /"scenario" to be one of .* in item 0, got nothing/)
  assert.throws(read({ scenario: 'cut', endpoint: 'list' }), /"endpoint" of cut to be one of put, download/)
  assert.throws(read({ scenario: 'reset', endpoint: 'list', x: 1 }), /only endpoint, scenario for reset/)
  assert.throws(
    read({ scenario: 'delay', endpoint: 'list', delay_ms: 0 }),
    /"delay_ms" to be an integer from 1/,
  )
})
