import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import {
  answerText,
  breakBody,
  startScriptedApi,
  type ScriptedAnswer,
} from '../../../test/support/scripted-api.ts'
import type { Identity } from '../../kernel/identity.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { ApiConnection } from '../http/api-client/api-connection.ts'
import { Budget } from './budget.ts'
import type { RequestFrame } from './frames.ts'
import { SessionRequests } from './session-requests.ts'

const FRAME: RequestFrame = {
  type: 'request',
  id: 1,
  method: 'GET',
  path: '/orders',
  headers: {},
  body: undefined,
}
const IDENTITY: Identity = { id: 'u-1', name: 'ann', roles: [], via: 'token' }

async function openWorld(answers: readonly ScriptedAnswer[], limit = 10 * 1_048_576) {
  const api = await startScriptedApi(answers)
  const connection = new ApiConnection({ url: api.url, logger: silentLogger })
  const outgoingBytes = new Budget(limit)
  return {
    api,
    outgoingBytes,
    requests: requestsOver(connection, outgoingBytes),
    async [Symbol.asyncDispose]() {
      connection.close()
      await api[Symbol.asyncDispose]()
    },
  }
}

function requestsOver(api: Pick<ApiConnection, 'ask'>, outgoingBytes: Budget): SessionRequests {
  return new SessionRequests({
    api,
    exchanges: new Budget(10),
    outgoingBytes,
    requireCurrentEndings: () => undefined,
  })
}

test('an exchange that is repeated holds the bytes of its last answer only', async () => {
  await using world = await openWorld([breakBody, answerText(200, 'twelve bytes')])
  const answer = await world.requests.answer(FRAME, IDENTITY)
  assert.equal(world.api.requests.length, 2)
  assert.equal(answer?.type, 'response')
  assert.equal(world.outgoingBytes.used, answer.reservedBytes)
})

test('an exchange that is repeated does not wait for the bytes that it holds itself', async () => {
  await using world = await openWorld([breakBody, answerText(200, 'twelve bytes')], 100)
  const answer = await world.requests.answer(FRAME, IDENTITY)
  assert.equal(answer?.type, 'response')
})

test('an exchange that fails while it waits for bytes releases them when it gets them', async () => {
  const outgoingBytes = new Budget(100)
  outgoingBytes.charge(100)
  const api: Pick<ApiConnection, 'ask'> = {
    async ask(_request, _sender, _signal, reserve) {
      void reserve?.(50)
      throw new Error('The connection has failed.')
    },
  }
  const answer = await requestsOver(api, outgoingBytes).answer(FRAME, IDENTITY)
  assert.equal(answer?.reservedBytes, 0)
  assert.equal(outgoingBytes.missing, 50)
  outgoingBytes.release(100)
  await endOfTurn()
  assert.equal(outgoingBytes.used, 0)
})
