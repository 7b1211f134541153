import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatCents } from '../../kernel/text.ts'
import { parseCents } from './bills.ts'

const amount = fc.oneof(fc.maxSafeNat(), fc.nat(100_000), fc.constantFrom(0, 1, 2 ** 53 - 1))

test('every amount from 0 to 2^53 - 1 cents comes back from its decimal text', () => {
  fc.assert(fc.property(amount, (cents) => parseCents(formatCents(cents)) === cents))
  fc.assert(
    fc.property(amount, (cents) => parseCents(`-${formatCents(cents)}`) === (cents === 0 ? 0 : -cents)),
  )
})

test('the decimal text is that of exact arithmetic', () => {
  fc.assert(
    fc.property(amount, (cents) => {
      const exact = BigInt(cents)
      return formatCents(cents) === `${exact / 100n}.${String(exact % 100n).padStart(2, '0')}`
    }),
  )
})

test('places may be missing, or be zeros', () => {
  assert.deepEqual(
    ['12', '12.3', '12.30', '12.3000', '0.07', '1.15', '-0.05', '-0.00'].map(parseCents),
    [1_200, 1_230, 1_230, 1_230, 7, 115, -5, 0],
  )
})

test('another text is no amount', () => {
  const texts = ['', '.', '.5', '5.', '1.234', '1,00', '+1', '1e3', ' 1', '1 ', '１', 'NaN', '--1', '0x1']
  assert.deepEqual(
    [...texts, '90071992547409.92', '9'.repeat(40)].map(parseCents).filter((each) => each !== undefined),
    [],
  )
})
