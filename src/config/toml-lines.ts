import { parse } from 'smol-toml'

/** Keys of one path, outermost first: `[auth] token_ttl = …` → `['auth', 'token_ttl']`. */
export type KeyPath = readonly string[]

/** The line (from 1) on which a key is first named, undefined when the text does not name it. */
export type LineOf = (path: KeyPath) => number | undefined

interface Token {
  readonly text: string
  readonly line: number
}

// Order matters: a multi-line string begins like an empty one. It may end in up to five quotes, two of them its own.
const TOKEN =
  /"""(?:\\[^]|[^\\])*?"{3,5}|'''[^]*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|\n|[[\]{},=.]|[^\s[\]{},=."'#]+/g

/**
 * Finds the lines of keys in a text that the TOML parser has accepted; the parser itself keeps no positions.
 * Only structure is read here: of values nothing but where they end.
 */
export function locateKeys(toml: string): LineOf {
  const lines = new Map<string, number>()
  new KeyScanner(tokenize(toml), (path, line) => recordPath(lines, path, line)).scan()
  return (path) => lines.get(JSON.stringify(path))
}

function recordPath(lines: Map<string, number>, path: KeyPath, line: number): void {
  for (let length = 1; length <= path.length; length++) {
    const name = JSON.stringify(path.slice(0, length))
    if (!lines.has(name)) lines.set(name, line)
  }
}

function tokenize(toml: string): Token[] {
  const tokens: Token[] = []
  let line = 1
  for (const [text] of toml.matchAll(TOKEN)) {
    if (!text.startsWith('#')) tokens.push({ text, line })
    line += text.split('\n').length - 1
  }
  return tokens
}

class KeyScanner {
  readonly #tokens: readonly Token[]
  readonly #record: (path: KeyPath, line: number) => void
  #next = 0

  constructor(tokens: readonly Token[], record: (path: KeyPath, line: number) => void) {
    this.#tokens = tokens
    this.#record = record
  }

  scan(): void {
    let table: KeyPath = []
    while (this.#peek() !== undefined) {
      if (this.#peek() === '[') table = this.#header()
      else if (this.#peek() === '\n') this.#next++
      else this.#entry(table)
    }
  }

  #peek(): string | undefined {
    return this.#tokens[this.#next]?.text
  }

  #header(): KeyPath {
    while (this.#peek() === '[') this.#next++
    const path = this.#key([])
    while (this.#peek() === ']') this.#next++
    return path
  }

  #entry(table: KeyPath): void {
    const path = this.#key(table)
    this.#next++ // the equals sign
    this.#value(path)
  }

  #key(table: KeyPath): KeyPath {
    const line = this.#tokens[this.#next]?.line ?? 1
    const path = [...table, this.#keyPart()]
    while (this.#peek() === '.') {
      this.#next++
      path.push(this.#keyPart())
    }
    this.#record(path, line)
    return path
  }

  #keyPart(): string {
    const text = this.#tokens[this.#next++]?.text ?? ''
    const quoted = text.startsWith('"') || text.startsWith("'")
    return quoted ? (Object.keys(parse(`${text} = 0`))[0] ?? text) : text
  }

  #value(path: KeyPath): void {
    if (this.#peek() === '{') this.#items('}', () => this.#entry(path))
    else if (this.#peek() === '[') this.#items(']', () => this.#value(path))
    else while (!['\n', ',', ']', '}', undefined].includes(this.#peek())) this.#next++
  }

  #items(end: '}' | ']', item: () => void): void {
    this.#next++
    while (this.#peek() !== end && this.#peek() !== undefined) {
      if (this.#peek() === ',' || this.#peek() === '\n') this.#next++
      else item()
    }
    this.#next++
  }
}
