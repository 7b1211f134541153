import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as it reached the api. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  /** As they stood on the wire: name and value in turn. */
  readonly rawHeaders: readonly string[]
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Reply = (request: SeenRequest, response: ServerResponse) => void

/** Stands in for the api behind a gateway, and writes down what it gets. */
export interface ApiDouble extends AsyncDisposable {
  readonly url: string
  readonly seen: SeenRequest[]
  /** How to answer from now on; at first an empty object. */
  reply: Reply
  /** Connections that are open. */
  connections(): Promise<number>
}

export async function startApiDouble(port = 0): Promise<ApiDouble> {
  const seen: SeenRequest[] = []
  const double = { reply: (_request: SeenRequest, response: ServerResponse) => sendJson(response, 200, {}) }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readBody(request)
    const { method = '', url = '', rawHeaders, headers } = request
    const whole = { method, url, rawHeaders, headers, body }
    seen.push(whole)
    double.reply(whole, response)
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    get reply() {
      return double.reply
    },
    set reply(next) {
      double.reply = next
    },
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
      }),
    async [Symbol.asyncDispose]() {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
}

async function readBody(request: IncomingMessage): Promise<string> {
  try {
    return Buffer.concat(await request.toArray()).toString()
  } catch {
    return ''
  }
}
