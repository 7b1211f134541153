import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A request as the double has received it. */
export interface TakenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type ScriptedAnswer = (response: ServerResponse) => void

/** An api whose answers are written by a test, also the broken ones. */
export interface ScriptedApi extends AsyncDisposable {
  readonly url: string
  readonly requests: readonly TakenRequest[]
}

/** Gives one answer after the other; the last one again and again. */
export async function startScriptedApi(answers: readonly ScriptedAnswer[]): Promise<ScriptedApi> {
  const requests: TakenRequest[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    const answer = answers[Math.min(requests.length, answers.length - 1)]
    const taken = { method, url, headers, body: '' }
    requests.push(taken)
    void text(request)
      .then((body) => {
        taken.body = body
        answer?.(response)
      })
      // The client has gone.
      .catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export function answerJson(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ScriptedAnswer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
}

export function answerText(status: number, body: string): ScriptedAnswer {
  return (response) => void response.writeHead(status).end(body)
}

/** Closes the connection with a reset instead of an answer. */
export const resetConnection: ScriptedAnswer = (response) => void response.socket?.resetAndDestroy()

/** Announces a whole body, sends a part of it and closes the connection. */
export const breakBody: ScriptedAnswer = (response) => {
  response.writeHead(200, { 'content-length': '100' })
  response.write('{"order_id":', () => response.destroy())
}

/** Sends a part of a body whose length is not announced. */
export const truncateBody: ScriptedAnswer = (response) => {
  response.writeHead(200, { connection: 'close' }).end('{"order_id":')
}
