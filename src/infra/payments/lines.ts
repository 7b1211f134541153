import { createReadStream } from 'node:fs'

/**
 * The lines of a text that comes in pieces, without their ends, the mark of the encoding and empty lines: those of one piece
 * together, for to wait for each of a million takes longer than to read them.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  encoding: 'utf-8' | 'gbk',
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder(encoding)
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAXIMUM_CHARACTERS)
      throw new Error(`a line has more than ${MAXIMUM_CHARACTERS} characters`)
    yield lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)).filter((line) => line !== '')
  }
  rest = (rest + decoder.decode()).trimEnd()
  if (rest !== '') yield [rest]
}

// A row of a bill has some 500.
const MAXIMUM_CHARACTERS = 1_048_576

export function linesOfFile(file: string, encoding: 'utf-8' | 'gbk'): AsyncGenerator<readonly string[]> {
  return linesOf(createReadStream(file), encoding)
}
