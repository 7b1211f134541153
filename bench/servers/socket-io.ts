// The peer: npm package socket.io over WebSocket alone, from the directory that it was installed in. It checks the same
// token before the upgrade.
import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { bearerOf, verifyToken } from '../support/tokens.ts'

interface Options {
  readonly transports: readonly string[]
  readonly allowRequest: (
    request: IncomingMessage,
    decide: (error: string | null, allowed: boolean) => void,
  ) => void
}

interface Peer {
  readonly Server: new (options: Options) => { listen(port: number): unknown }
}

const [, , port, directory = '.'] = process.argv
// Not by the name `require`: it is no dependency of the project.
const load = createRequire(`${directory}/`)
const { Server }: Peer = load('socket.io')

new Server({
  transports: ['websocket'],
  allowRequest: ({ headers }, decide) =>
    decide(null, verifyToken(bearerOf(headers.authorization)) !== undefined),
}).listen(Number(port))
