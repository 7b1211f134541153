import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse, stringify } from 'smol-toml'
import { locateKeys, statements } from './toml-file.ts'

const cases: readonly { name: string; toml: string; path: readonly string[]; line: number | undefined }[] = [
  { name: 'a key at the top', toml: '\n# a comment\nmodule = "api"', path: ['module'], line: 3 },
  { name: 'a key in a table', toml: '[auth]\n\ntoken_ttl = "1h"', path: ['auth', 'token_ttl'], line: 3 },
  { name: 'a dotted key', toml: 'a = 1\nauth.token_ttl = "1h"', path: ['auth', 'token_ttl'], line: 2 },
  {
    name: 'a dotted header with spaces',
    toml: '[ alerts . robot ]\nurl = ""',
    path: ['alerts', 'robot', 'url'],
    line: 2,
  },
  { name: 'a table by its header', toml: '\n[alerts.robot]\n', path: ['alerts'], line: 2 },
  { name: 'a quoted key', toml: 'x = 0\n"tok\\u0065n" = 1', path: ['token'], line: 2 },
  { name: 'a literal key with a dot', toml: "x = 0\n'a.b' = 1", path: ['a.b'], line: 2 },
  {
    name: 'a key after a list over several lines',
    toml: 'a = [\n 1, # ]\n "]",\n]\nb = 1',
    path: ['b'],
    line: 5,
  },
  {
    name: 'a key after a text over several lines',
    toml: 'a = """\nb = 1\n\\""" """\nb = 2',
    path: ['b'],
    line: 4,
  },
  { name: 'a key after a text that ends in quotes', toml: "a = '''x\n'''''\nb = 2", path: ['b'], line: 3 },
  {
    name: 'a key in an inline table',
    toml: 'a = 1\nlog = { level = "info", format = "json" }',
    path: ['log', 'format'],
    line: 2,
  },
  { name: 'a key after a comment with quotes', toml: 'a = 1 # "it\'s\nb = 2', path: ['b'], line: 2 },
  { name: 'a key after Windows line ends', toml: 'a = 1\r\n\r\nb = 2\r\n', path: ['b'], line: 3 },
  {
    name: 'a key after numbers and times',
    toml: 'a = 1.5\nc = 2026-01-31 02:00:00.5\nb = -inf',
    path: ['b'],
    line: 3,
  },
  { name: 'a key in a list of tables', toml: '[[a]]\nb = 1\n[[a]]\nc = 2', path: ['a', 'c'], line: 4 },
  {
    name: 'a key in a numbered table of a list',
    toml: '[[a]]\nb = 1\n[[a]]\nb = 2',
    path: ['a', '2', 'b'],
    line: 4,
  },
  {
    name: 'a table in a table of a list',
    toml: '[[a]]\n[a.h]\nb = 1\n[[a]]\n[a.h]\nb = 2',
    path: ['a', '2', 'h', 'b'],
    line: 6,
  },
  {
    name: 'nothing for a key that stands inside a text',
    toml: 'a = "\\"\\nb = 1"',
    path: ['b'],
    line: undefined,
  },
]

for (const { name, toml, path, line } of cases) {
  test(`finds the line of ${name}`, () => {
    parse(toml)
    assert.equal(locateKeys(toml)(path), line)
  })
}

const word = fc.oneof(
  fc.stringMatching(/^[a-z_-]{1,6}$/),
  fc.string({ minLength: 1, maxLength: 6, unit: 'grapheme' }),
)
const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.double({ noNaN: true }))
const { table } = fc.letrec<{ table: Record<string, unknown>; value: unknown }>((tie) => ({
  table: fc.dictionary(word, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(scalar, { maxLength: 3 }), tie('table')),
}))

test('every key of any document is found, on a line that names it', () => {
  fc.assert(
    fc.property(table, (document) => {
      const toml = stringify(document)
      const lines = toml.split('\n')
      const lineOf = locateKeys(toml)
      for (const path of leafPaths(parse(toml), [])) {
        const line = lineOf(path)
        assert.ok(line !== undefined, `${JSON.stringify(path)} is not found in\n${toml}`)
        const [named] = Object.keys(parse(`${lines[line - 1]?.split(' = ')[0]} = 0`))
        assert.equal(named, path.at(-1))
      }
    }),
    { numRuns: 300 },
  )
})

function leafPaths(value: unknown, path: readonly string[]): (readonly string[])[] {
  const isLeaf = typeof value !== 'object' || value === null || Array.isArray(value)
  if (isLeaf) return [path]
  return Object.entries(value).flatMap(([key, inner]) => leafPaths(inner, [...path, key]))
}

test('parses each line once, also those of a long list', () => {
  const list = Array.from({ length: 2_000 }, (_, index) => `  "${index}",\n`).join('')
  const toml = `a = [\n${list}]\nb = """\n${'x\n'.repeat(2_000)}"""\nc = 1\n`
  const parsed = [...statements(toml)].reduce((sum, { text }) => sum + text.length, 0)
  assert.equal(parsed, toml.length)
  assert.equal(locateKeys(toml)(['c']), 4_005)
})
