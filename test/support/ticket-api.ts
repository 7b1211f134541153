import { ticketPage, ticketsOf, type TicketList } from '../../programs/ticket-notify/tickets.ts'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A double of the platform that lists tickets and accepts alerts. */
export interface TicketApi extends AsyncDisposable {
  readonly url: string
  readonly requests: readonly TicketApiRequest[]
  /** The reported alerts. */
  readonly alerts: readonly Readonly<Record<string, unknown>>[]
  /** The listed tickets. */
  tickets: readonly unknown[]
  /** Overrides the responses; undefined restores the list of tickets. */
  behave(behaviour: ((response: ServerResponse) => void) | undefined): void
}

export interface TicketApiRequest extends Pick<IncomingMessage, 'method' | 'url' | 'headers'> {
  readonly body: string
}

export async function startTicketApi(): Promise<TicketApi> {
  const requests: TicketApiRequest[] = []
  const alerts: Record<string, unknown>[] = []
  let behaviour: ((response: ServerResponse) => void) | undefined

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url, headers } = request
    const body = await text(request)
    requests.push({ method, url, headers, body })
    if (behaviour) return behaviour(response)
    response.setHeader('content-type', 'application/json')
    if (method === 'POST' && url === '/alerts/report') {
      alerts.push(JSON.parse(body) as Record<string, unknown>)
      response.writeHead(201).end('{}')
    } else response.end(JSON.stringify({ items: api.tickets, next_cursor: null }))
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const api: TicketApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    alerts,
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

/** A new ticket for which a notification is sent. */
export function ticket(id: string, fields: object = {}): object {
  const now = new Date().toISOString()
  const common = { status: 'open', level: 'critical', title: `Ticket ${id}`, description: '', comments: [] }
  return { id, ...common, created_at: now, updated_at: now, ...fields }
}

/** Faulty responses of a platform. */
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

/** The tickets of an answer, undefined when it has no list. */
export function parseTicketList(answer: unknown): TicketList | undefined {
  const page = ticketPage(answer)
  return page && ticketsOf(page.tickets)
}
