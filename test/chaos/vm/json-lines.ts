import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

type Message = Readonly<Record<string, unknown>>

const CONNECT_EVERY_MS = 100

/** A socket of QEMU on which each line is a JSON object. */
export class JsonLines {
  readonly #socket: Socket
  readonly #onMessage: (message: Message) => void

  constructor(socket: Socket, onMessage: (message: Message) => void) {
    this.#socket = socket
    this.#onMessage = onMessage
    // A guest that loses its power resets its sockets.
    socket.on('error', () => undefined)
    const lines = createInterface({ input: socket }).on('error', () => undefined)
    lines.on('line', (line) => this.#take(line))
  }

  /** Connects as soon as QEMU listens. */
  static async connect(path: string, onMessage: (message: Message) => void): Promise<JsonLines> {
    for (;;) {
      const socket = createConnection(path)
      try {
        await once(socket, 'connect')
        return new JsonLines(socket, onMessage)
      } catch {
        await pause(CONNECT_EVERY_MS)
      }
    }
  }

  /** `prefix` are bytes before the line, such as the one that resets the parser of the guest agent. */
  send(message: Message, prefix: Uint8Array = new Uint8Array()): void {
    this.#socket.write(Buffer.concat([prefix, Buffer.from(`${JSON.stringify(message)}\n`)]))
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(line: string): void {
    // The answer to a synchronisation begins with the byte 0xFF.
    const text = line.slice(Math.max(0, line.indexOf('{')))
    try {
      this.#onMessage(JSON.parse(text) as Message)
    } catch {
      // The rest of a line from before a reset.
    }
  }
}
