import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { fakeClock } from '../../test/support/clock.ts'
import { redirectTo, type Answer } from './answers.ts'
import { readMockConfig } from './env.ts'
import { Grants } from './grants.ts'
import { SigningKeys } from './keys.ts'
import type { RequestRecord } from '../mock-server/request-log.ts'
import { ScenarioQueue } from '../mock-server/scenario-script.ts'
import { handleRequest, type HandlerContext } from './request-handler.ts'

const UNSENDABLE = redirectTo('http://\n')

const ENDPOINT_ANSWERS: Readonly<Record<string, () => Answer | Promise<Answer>>> = {
  'returns an invalid header': () => UNSENDABLE,
  'resolves with an invalid header': async () => UNSENDABLE,
  throws: () => {
    throw new Error('boom')
  },
  rejects: () => Promise.reject(new Error('boom')),
}

for (const [behaviour, answer] of Object.entries(ENDPOINT_ANSWERS)) {
  test(`an endpoint that ${behaviour} gets status 500 sent and logged`, async () => {
    const records: RequestRecord[] = []
    await using server = await serveEndpoint(answer, (record) => void records.push(record))
    const response = await fetch(server.url)
    assert.equal(response.status, 500)
    assert.equal(((await response.json()) as { error: string }).error, 'server_error')
    assert.deepEqual(
      records.map(({ status }) => status),
      [500],
    )
  })
}

async function serveEndpoint(answer: () => Answer | Promise<Answer>, log: HandlerContext['log']) {
  const clock = fakeClock()
  const config = readMockConfig({})
  const provider = {
    config,
    clock,
    issuer: config.issuer,
    grants: new Grants(clock),
    keys: new SigningKeys(),
    userJson: '{}',
  }
  const context: HandlerContext = {
    provider,
    route: () => ({ endpoint: { name: 'authorize', methods: ['GET'], answer } }),
    scenarios: new ScenarioQueue([]),
    abortSignal: new AbortController().signal,
    isClosing: () => true,
    log,
  }
  const server = createServer((request, response) => handleRequest(context, request, response)).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, [Symbol.asyncDispose]: async () => void server.close() }
}
