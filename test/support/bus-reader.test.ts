import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listenTo } from './bus-reader.ts'

test('a listener without a server fails with its address', async () => {
  const url = 'nats://127.0.0.1:1'
  await assert.rejects(listenTo(url, ['order.>'], 100), /a connection to nats:\/\/127\.0\.0\.1:1: not within/)
})
