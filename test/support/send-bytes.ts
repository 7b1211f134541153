import { once } from 'node:events'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Sends bytes and FIN to a port of this host; resolves with what the server sent. */
export async function sendBytes(port: number, bytes: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.end(bytes)
  const received = await buffer(socket).catch(() => Buffer.alloc(0))
  return received.toString('latin1')
}
