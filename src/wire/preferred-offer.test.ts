import assert from 'node:assert/strict'
import { test } from 'node:test'
import { preferredOffer } from './preferred-offer.ts'

const TYPES = ['application/json', 'text/csv', 'text/markdown'] as const

test('the highest weight wins, and of equals what comes first', () => {
  const cases = [
    ['text/csv', 'text/csv'],
    ['text/csv, application/json', 'application/json'],
    ['text/csv, application/json;q=0.9', 'text/csv'],
    ['TEXT/CSV ; Q=0.2 , text/markdown;q=0.3', 'text/markdown'],
    ['text/*', 'text/csv'],
    ['text/*, text/csv;q=0', 'text/markdown'],
    ['*/*', 'application/json'],
    ['*/*;q=0.1, text/markdown', 'text/markdown'],
    ['text/csv;q=2', 'text/csv'],
    ['text/html', undefined],
    ['application/json;q=0', undefined],
    ['', undefined],
    [undefined, undefined],
  ] as const
  for (const [header, wanted] of cases)
    assert.equal(preferredOffer(header, TYPES), wanted, header ?? 'no header')
})

test('a coding is accepted by its name or by an asterisk, unless its weight is 0', () => {
  const gzip = (header: string) => preferredOffer(header, ['gzip'])
  assert.deepEqual(
    ['gzip', 'br, gzip;q=0.5', '*', 'br;q=1.0, *;q=0.1'].map(gzip),
    Array<unknown>(4).fill('gzip'),
  )
  assert.deepEqual(['gzip;q=0', 'br', 'identity, *;q=0', ''].map(gzip), Array<unknown>(4).fill(undefined))
})
