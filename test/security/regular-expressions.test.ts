import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { parseSync } from '@swc/core'
import { scrubText } from '../../src/infra/log/scrub.ts'

/** A regular expression, with where it stands. */
interface Found {
  readonly where: string
  readonly expression: RegExp
}

// What grows exponentially would not come back from a large text, so small ones go first.
const SMALL_SIZES = [24, 200, 2_000]
const SMALL_LIMIT_MS = 1_000
// Eight times the text takes eight times as long, or sixty-four times when the time is quadratic.
const SIZES = [12_500, 100_000] as const
const MOST_GROWTH = 24
// Below this a measurement tells nothing, and nobody minds.
const QUICK_MS = 100
const TRIES = 3

const ENDS = ['', '!', '\u0000', '\n', '"', '@', ' ']
const PUMPS = [
  'a',
  'A',
  '0',
  ' ',
  '\t',
  '\n',
  '.',
  '-',
  '_',
  '/',
  '\\',
  '"',
  "'",
  ':',
  '=',
  '%',
  '%25',
  '@',
  ',',
  '$',
  '{',
  '}',
  '[',
  ']',
  '<',
  'a.',
  'a:',
  'a=',
  '://',
  'a@',
  'eyJ',
  ' =',
  'é',
  '\ud83d\ude00',
  '\u001b[',
  '-----BEGIN A PRIVATE KEY-----',
  'password=',
  'Bearer ',
  'token: ',
  '%3A%2F%2F',
  'hooks/',
  'weight=',
  'alarm_id=',
  '1.',
  '1e',
  '0:',
  '${',
]

describe('every regular expression takes time in proportion to its text', () => {
  const found = [...inSources(), ...inDocument()]

  test('there are some', () => assert.ok(found.length > 100, String(found.length)))

  for (const { where, expression } of found) {
    test(`${where} ${String(expression).slice(0, 80)}`, () => {
      const use = (text: string) => void text.replace(expression, '')
      for (const pump of pumpsOf(expression)) {
        for (const end of ENDS) assertProportional(use, pump, end)
      }
    })
  }
})

/** The texts that are repeated, with the words of the expression itself. */
function pumpsOf({ source }: RegExp): string[] {
  const words = source.match(/[A-Za-z]{2,}/g) ?? []
  return [...new Set([...PUMPS, ...words])]
}

function assertProportional(use: (text: string) => void, pump: string, end: string): void {
  const time = (size: number) => cpuTimeOf(() => use(pump.repeat(Math.ceil(size / pump.length)) + end))
  const what = `${JSON.stringify(pump)} over and over and ${JSON.stringify(end)}`
  for (const size of SMALL_SIZES) assert.ok(time(size) < SMALL_LIMIT_MS, `${what} to ${size} characters`)
  const [less, more] = SIZES.map(time) as [number, number]
  assert.ok(more < QUICK_MS || more < MOST_GROWTH * less, `${what}: from ${less} to ${more} ms`)
}

/** The best of a few, of this thread alone: how busy the machine is does not count. */
function cpuTimeOf(work: () => void): number {
  let best = Infinity
  for (let attempt = 0; attempt < TRIES && best > QUICK_MS; attempt++) {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    best = Math.min(best, (user + system) / 1_000)
  }
  return best
}

test('so does the redactor of the log, whose expressions are put together when it is loaded', () => {
  for (const pump of PUMPS) assertProportional(scrubText, pump, '')
})

function inSources(): Found[] {
  return globSync(['src/**/*.ts', 'programs/**/*.ts'])
    .filter((path) => !path.endsWith('.test.ts'))
    .sort()
    .flatMap((path) => literalsOf(path).map((expression) => ({ where: path, expression })))
}

function literalsOf(path: string): RegExp[] {
  const literals: RegExp[] = []
  visit(parseSync(readFileSync(path, 'utf8'), { syntax: 'typescript', target: 'es2024' }), (pattern, flags) =>
    literals.push(new RegExp(pattern, flags)),
  )
  return literals
}

function visit(node: unknown, onExpression: (pattern: string, flags: string) => void): void {
  if (typeof node !== 'object' || node === null) return
  if ('type' in node && node.type === 'RegExpLiteral' && 'pattern' in node && 'flags' in node)
    onExpression(String(node.pattern), String(node.flags))
  for (const member of Object.values(node)) visit(member, onExpression)
}

/** The patterns of the schemas, as they are compiled: with the flag u. */
function inDocument(): Found[] {
  const patterns = new Set<string>()
  const collect = (name: string, value: unknown): unknown => {
    if (name === 'pattern' && typeof value === 'string') patterns.add(value)
    return value
  }
  JSON.parse(readFileSync('docs/reference/openapi.json', 'utf8'), collect)
  return [...patterns].map((pattern) => ({
    where: 'docs/reference/openapi.json',
    expression: new RegExp(pattern, 'u'),
  }))
}
