import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { qrCode } from './qr-code.ts'

// Both were read by a scanner.
const HELLO = `
#######.##.#..#######
#.....#..##.#.#.....#
#.###.#..####.#.###.#
#.###.#.#..#..#.###.#
#.###.#.#...#.#.###.#
#.....#.#.##..#.....#
#######.#.#.#.#######
........#####........
#...#.######.#####..#
...###..#.###..#.####
#.##..#.#.##..###..#.
###..#...#...##.#....
..#.###..#..###...##.
........###.###..#.##
#######.##..##...#.#.
#.....#....##..#...#.
#.###.#.#..#..###.#.#
#.###.#....##....#.##
#.###.#..###..####...
#.....#..#...##......
#######.#...#####.#.#
`
const LONG_SHA256 = 'd81be6e25f5a8fb08f2a0110c4d4e15c460164244b34e6742ff14fc7b880014b'

const textOf = (text: string) =>
  (qrCode(text) ?? []).map((row) => row.map((isDark) => (isDark ? '#' : '.')).join('')).join('\n')

test('a short text is a code of 21 modules', () => {
  assert.equal(textOf('HELLO'), HELLO.trim())
})

test('a long text has several blocks, alignment patterns and the number of its version', () => {
  const text = textOf(`weixin://wxpay/bizpayurl?pr=${'a'.repeat(150)}`)
  assert.equal(text.split('\n').length, 53)
  assert.equal(createHash('sha256').update(text).digest('hex'), LONG_SHA256)
})

test('a text of 412 bytes is the longest', () => {
  assert.equal(qrCode('a'.repeat(412))?.length, 77)
  assert.equal(qrCode('a'.repeat(413)), undefined)
})
