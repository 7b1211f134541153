import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { AppError, type ErrorKind } from '../../kernel/errors.ts'
import type { StreamEnd } from '../../wire/stream.ts'
import { LongResponses } from './stream-response.ts'

const CHECK_EVERY_MS = 5

const requestWith = (headers: Record<string, string>) => ({ headers }) as unknown as IncomingMessage
const BEARER = requestWith({ authorization: 'Bearer abc' })
const LOCAL_TOOL = requestWith({ 'x-user-id': 'a' })

function world() {
  let failure: ErrorKind | undefined
  let checks = 0
  const responses = new LongResponses({
    checkEveryMs: CHECK_EVERY_MS,
    authenticator: {
      authenticate: async () => {
        checks++
        if (failure) throw new AppError(failure, failure, 'no')
        return { id: 'a', name: 'a', roles: [], via: 'token' }
      },
    },
  })
  const add = (request: IncomingMessage) => {
    const ends: StreamEnd[] = []
    return { ends, remove: responses.add(request, (reason) => ends.push(reason)) }
  }
  const checked = async (times: number) => {
    const wanted = checks + times
    await eventually(`${times} checks`, () => checks >= wanted)
  }
  return { responses, add, checked, fail: (kind: ErrorKind | undefined) => void (failure = kind) }
}

describe('long responses', () => {
  test('end once when their token is not valid any more', async () => {
    const { add, checked, fail } = world()
    const [response, tool] = [add(BEARER), add(LOCAL_TOOL)]
    await checked(2)
    assert.deepEqual(response.ends, [])
    fail('unauthenticated')
    await eventually('the end', () => response.ends.length > 0)
    assert.deepEqual([response.ends, tool.ends], [['token'], []])
    tool.remove()
  })

  test('go on for a while when the token cannot be verified', async () => {
    const { add, checked, fail } = world()
    const response = add(BEARER)
    fail('unavailable')
    await checked(5)
    fail(undefined)
    await checked(10)
    assert.deepEqual(response.ends, [])
    fail('unavailable')
    await eventually('the end', () => response.ends.length > 0)
    assert.deepEqual(response.ends, ['token'])
  })

  test('end when the server stops, also when they are added later', () => {
    const { responses, add } = world()
    const first = add(BEARER)
    const removed = add(BEARER)
    removed.remove()
    responses.close()
    responses.close()
    assert.deepEqual([first.ends, removed.ends, add(LOCAL_TOOL).ends], [['shutdown'], [], ['shutdown']])
  })
})
