import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A platform that knows nothing but tickets. */
export interface TicketApi extends AsyncDisposable {
  readonly url: string
  readonly requests: readonly Pick<IncomingMessage, 'method' | 'url' | 'headers'>[]
  /** What it lists from now on. */
  tickets: readonly unknown[]
  /** From now on it does this instead; undefined: it lists its tickets. */
  behave(behaviour: ((response: ServerResponse) => void) | undefined): void
}

export async function startTicketApi(): Promise<TicketApi> {
  const requests: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = []
  let behaviour: ((response: ServerResponse) => void) | undefined
  const server = createServer(({ method, url, headers }, response) => {
    requests.push({ method, url, headers })
    if (behaviour) behaviour(response)
    else {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ items: api.tickets, next_cursor: null }))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const api: TicketApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    tickets: [],
    behave(next) {
      behaviour = next
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return api
}

/** A ticket that is worth telling, opened just now. */
export function ticket(id: string, fields: object = {}): object {
  const now = new Date().toISOString()
  const common = { status: 'open', level: 'critical', title: `Ticket ${id}`, description: '', comments: [] }
  return { id, ...common, created_at: now, updated_at: now, ...fields }
}

/** What goes wrong with platforms. */
export const TICKET_API_FAULTS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'resets the connection': (response) => void response.socket?.resetAndDestroy(),
  'answers with a page': (response) => void response.writeHead(200).end('<html>welcome</html>'),
  'answers half': (response) => void response.writeHead(200).end('{"items":[{"id":"a","status":"op'),
  'breaks off in the middle': (response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('{"items":[')
    setImmediate(() => response.destroy())
  },
  'answers with nothing': (response) => void response.writeHead(200).end(),
  'answers without a list': (response) => void response.writeHead(200).end('{"items":{"id":"a"}}'),
  'answers 503 with a list': (response) => void response.writeHead(503).end('{"items":[]}'),
  'answers 401': (response) => void response.writeHead(401).end('{"code":"unauthenticated","message":"no"}'),
  'redirects elsewhere': (response) => void response.writeHead(302, { location: '/tickets2' }).end('[]'),
}
