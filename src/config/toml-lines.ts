import { parse } from 'smol-toml'

/** Keys of one path, outermost first: `[auth] token_ttl = …` → `['auth', 'token_ttl']`. */
export type KeyPath = readonly string[]

/** The line (from 1) that first names a key, undefined when no line does. */
export type LineOf = (path: KeyPath) => number | undefined

/** Finds the lines of keys in a text that the TOML parser has accepted; the parser itself keeps no positions. */
export function locateKeys(toml: string): LineOf {
  const lines = new Map<string, number>()
  let table: KeyPath = []
  /** The same without the numbers. */
  let plain: KeyPath = []
  /** How many tables each array `[[…]]` has so far. */
  const lengths = new Map<string, number>()
  for (const { text, line } of statements(toml)) {
    const isHeader = text.trimStart().startsWith('[')
    const header = isHeader ? pathsIn(parse(text), []) : []
    if (isHeader) {
      plain = header.at(-1) ?? []
      table = tableOf(plain, text.trimStart().startsWith('[['), lengths)
    }
    const paths = isHeader
      ? [...header, table]
      : [table, plain].flatMap((outer) => pathsIn(parse(text), outer))
    for (const path of paths) {
      const key = JSON.stringify(path)
      if (!lines.has(key)) lines.set(key, line)
    }
  }
  return (path) => lines.get(JSON.stringify(path))
}

/** The path of a table with the number, from 1, of each table of an array: `alerts.routes.2.hours`. */
function tableOf(header: KeyPath, isArray: boolean, lengths: Map<string, number>): KeyPath {
  return header.reduce<KeyPath>((outer, name, index) => {
    const path = [...outer, name]
    const key = JSON.stringify(path)
    const isLast = index === header.length - 1
    const length = (lengths.get(key) ?? 0) + (isLast && isArray ? 1 : 0)
    if (isLast && isArray) lengths.set(key, length)
    return length > 0 ? [...path, String(length)] : path
  }, [])
}

/** What decides where a statement ends: texts, comments, brackets and line ends. */
const TOKENS = [
  /"""(?:\\[^]|(?!""")[^\\])*"{3,5}/,
  /'''[^]*?'{3,5}/,
  /"(?:\\.|[^"\\\n])*"/,
  /'[^'\n]*'/,
  /#.*/,
  /[[\]{}\n]/,
]
const TOKEN = new RegExp(TOKENS.map(({ source }) => source).join('|'), 'g')

/** The headers and entries of a text that the parser has accepted, each with the line of its beginning. Reads it once. */
export function* statements(toml: string): Generator<{ text: string; line: number }> {
  let depth = 0
  let line = 1
  let begin = { index: 0, line }
  for (const { 0: token, index } of toml.matchAll(TOKEN)) {
    if (token === '[' || token === '{') depth++
    else if (token === ']' || token === '}') depth--
    line += token.split('\n').length - 1
    if (token !== '\n' || depth > 0) continue
    yield { text: toml.slice(begin.index, index + 1), line: begin.line }
    begin = { index: index + 1, line }
  }
  yield { text: toml.slice(begin.index), line: begin.line }
}

/** The path of each key in a table and in the tables inside it, outer ones first. */
function pathsIn(table: object, outer: KeyPath): KeyPath[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const path = [...outer, name]
    const isTable = typeof value === 'object' && value !== null && !Array.isArray(value)
    return [path, ...(isTable ? pathsIn(value as object, path) : [])]
  })
}
