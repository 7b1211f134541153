import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseError } from 'pg'
import { AppError } from '../../kernel/errors.ts'
import { isRetryable, fromPostgresError } from './postgres-errors.ts'

const coded = (code: string, message = code) => Object.assign(new Error(message), { code })
const fromServer = (code: string) => {
  const error = new DatabaseError(code, 1, 'error')
  error.code = code
  return error
}

const UNAVAILABLE: readonly Error[] = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH', 'EHOSTDOWN'].map(
    (code) => coded(code),
  ),
  ...[
    'ENETUNREACH',
    'ENETDOWN',
    'ENETRESET',
    'EADDRNOTAVAIL',
    'EMFILE',
    'ENOTFOUND',
    'EAI_AGAIN',
    'ENOENT',
  ].map((code) => coded(code)),
  Object.assign(new AggregateError([coded('ENETUNREACH'), coded('ECONNREFUSED')]), { code: 'ECONNREFUSED' }),
  coded('CERT_HAS_EXPIRED'),
  new Error('Connection terminated unexpectedly'),
  new Error('timeout exceeded when trying to connect'),
  ...['25006', '25P03', '55P03', '08006', '28P01', '3D000', '53300', '57P01', '58030'].map(fromServer),
]

const OTHERS: readonly Error[] = [
  fromServer('23505'),
  fromServer('42P01'),
  fromServer('22021'),
  fromServer('40001'),
  new RangeError('the database answered 9007199254740993, which is beyond 2^53'),
  new TypeError('a mistake in the program'),
  Object.assign(new TypeError('a mistake in the program'), { code: 'ERR_INVALID_ARG_TYPE' }),
]

for (const error of UNAVAILABLE) {
  test(`${error.message} makes the store unavailable`, () => {
    const translated = fromPostgresError(error)
    assert.ok(translated instanceof AppError)
    assert.deepEqual(
      [translated.code, translated.kind, translated.cause],
      ['store_unavailable', 'unavailable', error],
    )
  })
}

for (const error of OTHERS) {
  test(`${error.message} reaches the caller as it is`, () => {
    assert.equal(fromPostgresError(error), error)
  })
}

test('a transaction that lost against a concurrent one is repeated', () => {
  assert.deepEqual(
    ['40001', '40P01', '55P03', '23505'].map((code) => isRetryable(fromServer(code))),
    [true, true, false, false],
  )
})
