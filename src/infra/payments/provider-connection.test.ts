import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { test } from 'node:test'
import { listen } from '../../../programs/mock-server/listener.ts'
import { ChannelError } from '../../ports/payments.ts'
import { fakeClock } from '../../../test/support/clock.ts'
import { ProviderConnection } from './provider-connection.ts'

const SETTINGS = {
  name: 'card',
  kind: 'stripe',
  apiUrl: '',
  currency: 'CNY',
  callbackUrl: '',
  secrets: {},
} as const

const SILENT: [string, RequestListener][] = [
  ['no answer', () => undefined],
  ['the beginning of an answer', (_, response) => void response.writeHead(200).write('{"id":')],
]

for (const [what, answer] of SILENT)
  test(`a provider that gives ${what} within the time of a call is unclear`, async () => {
    const server = createServer(answer)
    const port = await listen(server, { bind: '127.0.0.1', port: 0 })
    const connection = new ProviderConnection(SETTINGS, { clock: fakeClock() }, 50)
    await assert.rejects(
      connection.send({ method: 'GET', url: `http://127.0.0.1:${port}/secret?key=k` }),
      (error: unknown) =>
        error instanceof ChannelError &&
        error.outcome === 'unclear' &&
        error.code === 'timeout' &&
        !error.message.includes('secret'),
    )
    server.closeAllConnections()
    await connection.end()
    server.close()
  })
