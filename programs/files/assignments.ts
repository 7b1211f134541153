// KEY=value, with or without `export` and quotes. Unlike `util.parseEnv`, a `#` is part of a value and a quote that is
// not closed ends with its line: a secret must not be cut, and one wrong line must not take the next ones with it.
const LINE = /^\s*(?:export\s+)?([A-Z_][A-Z0-9_]*)\s*=\s*(.*?)\s*$/

/** The values of an environment file by their names. Other lines are left out; the last of two equal names counts. */
export function parseAssignments(text: string): Map<string, string> {
  const values = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const [, name, raw = ''] = LINE.exec(line) ?? []
    if (name !== undefined) values.set(name, unquote(raw))
  }
  return values
}

function unquote(raw: string): string {
  return /^(["'])(.*)\1$/.exec(raw)?.[2] ?? raw
}
