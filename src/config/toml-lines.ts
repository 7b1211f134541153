import { parse } from 'smol-toml'

/** Keys of one path, outermost first: `[auth] token_ttl = …` → `['auth', 'token_ttl']`. */
export type KeyPath = readonly string[]

/** The line (from 1) that first names a key, undefined when no line does. */
export type LineOf = (path: KeyPath) => number | undefined

/** Finds the lines of keys in a text that the TOML parser has accepted; the parser itself keeps no positions. */
export function locateKeys(toml: string): LineOf {
  const lines = new Map<string, number>()
  let table: KeyPath = []
  for (const { text, line } of statements(toml)) {
    const isHeader = text.trimStart().startsWith('[')
    const paths = pathsIn(parse(text), isHeader ? [] : table)
    if (isHeader) table = paths.at(-1) ?? []
    for (const path of paths) {
      const key = JSON.stringify(path)
      if (!lines.has(key)) lines.set(key, line)
    }
  }
  return (path) => lines.get(JSON.stringify(path))
}

/** The headers and entries of a text. Each is a document of its own, and only the last of its lines completes it. */
function* statements(toml: string): Generator<{ text: string; line: number }> {
  let text = ''
  let start = 1
  for (const [index, line] of toml.split('\n').entries()) {
    text += `${line}\n`
    if (!isDocument(text)) continue
    yield { text, line: start }
    text = ''
    start = index + 2
  }
}

function isDocument(text: string): boolean {
  try {
    parse(text)
    return true
  } catch {
    return false
  }
}

/** The path of each key in a table and in the tables inside it, outer ones first. */
function pathsIn(table: object, outer: KeyPath): KeyPath[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const path = [...outer, name]
    const isTable = typeof value === 'object' && value !== null && !Array.isArray(value)
    return [path, ...(isTable ? pathsIn(value as object, path) : [])]
  })
}
