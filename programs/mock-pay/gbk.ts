/** The bytes of GBK by character: Node.js decodes it, and does not encode it. */
function createTable(): ReadonlyMap<string, number> {
  const table = new Map<string, number>()
  const decoder = new TextDecoder('gbk')
  for (let first = 0x81; first <= 0xfe; first++)
    for (let second = 0x40; second <= 0xfe; second++) {
      const character = decoder.decode(Uint8Array.of(first, second))
      if ([...character].length === 1 && character !== '\uFFFD' && !table.has(character))
        table.set(character, first * 256 + second)
    }
  return table
}

let table: ReadonlyMap<string, number> | undefined

/** A character that is not in GBK becomes a question mark. */
export function encodeGbk(text: string): Buffer {
  table ??= createTable()
  const bytes: number[] = []
  for (const character of text) {
    const code = character < '\u0080' ? character.charCodeAt(0) : (table.get(character) ?? 63)
    if (code > 255) bytes.push(code >> 8, code & 255)
    else bytes.push(code)
  }
  return Buffer.from(bytes)
}
