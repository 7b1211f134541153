// The limit of any gateway on this machine: `ws` alone. It greets with a frame as long as that of a session, sends back
// what it gets, and ends dead connections as the manual of `ws` shows. `verify` checks a token first.
import type { IncomingMessage } from 'node:http'
import { WebSocketServer, type WebSocket } from 'ws'
import { bearerOf, verifyToken } from '../support/tokens.ts'

const [, , port, heartbeatMs, mode] = process.argv

const GREETING = JSON.stringify({
  type: 'session',
  session_id: '01900000-0000-7000-8000-000000000000',
  virtual_ip: '100.64.100.100',
  prefix_length: 12,
  heartbeat_seconds: 30,
  gateway: 'gateway',
  user: { id: 'bench-00000', name: 'bench-00000', roles: ['service'] },
})

const verifyClient = ({ req }: { req: IncomingMessage }) =>
  verifyToken(bearerOf(req.headers.authorization)) !== undefined

const server = new WebSocketServer({
  port: Number(port),
  host: '127.0.0.1',
  ...(mode === 'verify' && { verifyClient }),
})
const silent = new WeakSet<WebSocket>()

server.on('connection', (socket) => {
  socket.on('error', () => socket.terminate())
  socket.on('pong', () => silent.delete(socket))
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  socket.send(GREETING)
})

setInterval(() => {
  for (const socket of server.clients) {
    if (silent.has(socket)) socket.terminate()
    silent.add(socket)
    socket.ping()
  }
}, Number(heartbeatMs))
