import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pictureAddress, poolTone } from './model.ts'

const pool = (used: number) => ({ cidr: '', size: 100, used, cooling: 0, free: 100 - used })

test('the pool is judged by the share of addresses in use', () => {
  assert.equal(poolTone(pool(79)), 'good')
  assert.equal(poolTone(pool(80)), 'warning')
  assert.equal(poolTone(pool(95)), 'danger')
  assert.equal(poolTone({ ...pool(0), size: 0 }), 'danger')
})

test('the picture of a gateway that listens on every address is at the host of the console', () => {
  assert.equal(pictureAddress('0.0.0.0:9601', 'shop.example'), 'http://shop.example:9601/tunnels')
  assert.equal(pictureAddress('[::]:9601', 'shop.example'), 'http://shop.example:9601/tunnels')
  assert.equal(pictureAddress('192.0.2.1:9601', 'shop.example'), 'http://192.0.2.1:9601/tunnels')
})
