import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'

/** What one stranger does to a server until its thread is ended. */
export interface Attack {
  readonly name: string
  readonly connections: number
  /** What a connection sends, again and again. */
  readonly bytes: string
  readonly reads: boolean
}

/** Sends for ever; a connection that was closed is opened again. */
async function attack({ port, bytes, reads }: Attack & { readonly port: number }): Promise<never> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    if (reads) socket.resume()
    else socket.pause()
    // The next bytes when these were taken.
    const send = (): void => void (socket.writable && socket.write(bytes, () => setImmediate(send)))
    if (bytes.endsWith('[')) socket.write(bytes)
    else send()
    await closed
    await pause(1)
  }
}

const options = workerData as Attack & { readonly port: number }
await Promise.all(Array.from({ length: options.connections }, () => attack(options)))
