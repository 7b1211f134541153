import { once } from 'node:events'
import { connect } from 'node:net'
import { addressOf } from './client.ts'
import type { ErrorAnswer } from './traffic.ts'

/** One answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  error(): ErrorAnswer
}

// A server that waits for more never ends the connection by itself.
const PATIENCE_MS = 5_000

/** Sends these bytes (Latin-1) on a connection of their own, and reads every answer until the server ends it. */
export async function exchange(url: string, bytes: string): Promise<RawAnswer[]> {
  const { hostname, port } = addressOf(url)
  const socket = connect(port, hostname)
  let text = ''
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece))
  // A server that refuses a request while it is still being sent may reset the connection after its answer.
  socket.on('error', () => undefined)
  socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('the server keeps the connection')))
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  return parseAnswers(text)
}

/**
 * Sends a head, on a connection that closes after the answer, and the whole body, before it reads: as simple clients do.
 * Returns what it then reads; rejects if the body cannot be sent.
 */
export async function sendThenRead(url: string, head: readonly string[], body: Buffer): Promise<string> {
  const { hostname, port } = addressOf(url)
  const socket = connect(port, hostname)
  await once(socket, 'connect')
  socket.pause()
  const length = `Content-Length: ${body.length}`
  const lines = [...head, 'Host: localhost', 'Connection: close', 'Content-Type: application/json', length]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const sent = Promise.withResolvers<void>()
  socket.write(body, (error) => (error ? sent.reject(error) : sent.resolve()))
  await sent.promise
  let text = ''
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece))
  socket.resume()
  await once(socket, 'close')
  return text
}

function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let rest = text; rest !== '';) {
    const end = rest.indexOf('\r\n\r\n')
    const [line = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(lines.map(parseHeader))
    const body = rest.slice(end + 4, end + 4 + Number(headers['content-length'] ?? 0))
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1])
    answers.push({ status, headers, body, error: () => JSON.parse(body) as ErrorAnswer })
    rest = rest.slice(end + 4 + body.length)
  }
  return answers
}

function parseHeader(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
