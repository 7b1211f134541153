import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange } from '../http/raw-socket.ts'
import { openWorld } from './world.ts'

const FAULTS: Readonly<Record<string, string>> = {
  'two Hosts': 'GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n',
  'two tokens': 'GET /a HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\n',
  'two types': 'GET /a HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\nContent-Type: c/d\r\n',
  'no Host': 'GET /a HTTP/1.1\r\n',
  'an absolute target': 'GET http://a/a HTTP/1.1\r\nHost: a\r\n',
  'an unknown transfer coding': 'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n',
}

for (const [name, head] of Object.entries(FAULTS)) {
  test(`a request with ${name} is the last one of its connection`, async (t) => {
    const { url, token, api } = await openWorld(t)
    const authorization = `Authorization: Bearer ${await token()}\r\n`
    const body = head.includes('Transfer-Encoding') ? '0\r\n\r\n' : ''
    const second = `GET /b HTTP/1.1\r\nHost: a\r\n${authorization}\r\n`
    const answers = await exchange(url, `${head}${authorization}\r\n${body}${second}`)
    assert.deepEqual([answers[0]?.status, answers[0]?.headers['connection']], [400, 'close'])
    assert.deepEqual(
      answers.slice(1).filter(({ status }) => status !== 400),
      [],
    )
    assert.deepEqual(api.seen, [])
  })
}
