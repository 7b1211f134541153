const COLOURS: Readonly<Record<string, number>> = { error: 31, warn: 33, info: 32, debug: 90, name: 36 }
const BARE_VALUE = /^[\w.:/@+*-]+$/

/** A JSON line as a person reads it: time (UTC), level, message, fields; an error's stack on the lines below. */
export function prettyLine(line: string, colours: boolean): string {
  const { ts, level, message, ...fields } = JSON.parse(line) as Record<string, unknown>
  const paint = (text: string, colour: string): string =>
    colours ? `\u001b[${COLOURS[colour] ?? 0}m${text}\u001b[0m` : text
  const shown = Object.entries(fields).map(
    ([name, value]) => `${paint(oneLine(name), 'name')}=${prettyValue(withoutStack(value))}`,
  )
  const head = [
    String(ts).slice(11),
    paint(String(level).toUpperCase().padEnd(5), String(level)),
    oneLine(String(message)),
  ]
  return `${[...head, ...shown].join(' ')}\n${stackLines(fields)}`
}

function prettyValue(value: unknown): string {
  return typeof value === 'string' && BARE_VALUE.test(value) ? value : JSON.stringify(value)
}

function stackOf(value: unknown): string | undefined {
  const stack: unknown =
    typeof value === 'object' && value !== null && 'stack' in value ? value.stack : undefined
  return typeof stack === 'string' ? stack : undefined
}

function withoutStack(value: unknown): unknown {
  return stackOf(value) === undefined ? value : { ...(value as object), stack: undefined }
}

// Indented and marked, so that a message with line feeds in it cannot pass for a line of its own.
function stackLines(fields: Readonly<Record<string, unknown>>): string {
  return Object.values(fields)
    .flatMap((value) => stackOf(value)?.split('\n') ?? [])
    .map((each) => `    | ${oneLine(each)}\n`)
    .join('')
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1))
}
