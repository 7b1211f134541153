import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTokenText, newTokenText } from './token-text.ts'

test('a token has a prefix, 40 characters and the checksum of what is before it', () => {
  const tokens = Array.from({ length: 1_000 }, newTokenText)
  assert.equal(new Set(tokens).size, tokens.length)
  for (const token of tokens) {
    assert.match(token, /^pat_[0-9A-Za-z]{40}$/)
    assert.ok(isTokenText(token))
  }
})

test('the checksum is CRC-32 in base 62, with leading zeros', () => {
  for (const token of Array.from({ length: 100 }, newTokenText))
    assert.equal(token.slice(-6), base62(token.slice(0, -6)))
})

test('a token with one other character, or another length, is none', () => {
  const token = newTokenText()
  for (let index = 0; index < token.length; index++) {
    const other = token[index] === 'x' ? 'y' : 'x'
    assert.equal(isTokenText(token.slice(0, index) + other + token.slice(index + 1)), false, `at ${index}`)
  }
  for (const text of ['', 'pat_', token.slice(1), token.slice(0, -1), `${token}0`, ` ${token}`, `${token}\n`])
    assert.equal(isTokenText(text), false, JSON.stringify(text))
})

/** The checksum by the definition of CRC-32 (ISO 3309), bit by bit, and by big integers. */
function base62(text: string): string {
  let crc = 0xffff_ffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1
  }
  let rest = BigInt((crc ^ 0xffff_ffff) >>> 0)
  let digits = ''
  for (; rest > 0n; rest /= 62n)
    digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'[Number(rest % 62n)] + digits
  return digits.padStart(6, '0')
}
