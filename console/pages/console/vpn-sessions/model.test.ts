import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pictureAddress } from './model.ts'

const CONSOLE = new URL('http://shop.example:9600/console/')
const SECURE_CONSOLE = new URL('https://shop.example/console/')

test('the picture of a gateway that listens on every address is at the host of the console', () => {
  assert.equal(pictureAddress('0.0.0.0:9601', CONSOLE), 'http://shop.example:9601/tunnels')
  assert.equal(pictureAddress('[::]:9601', CONSOLE), 'http://shop.example:9601/tunnels')
  assert.equal(pictureAddress('192.0.2.1:9601', CONSOLE), 'http://192.0.2.1:9601/tunnels')
})

test('the picture of a gateway has the scheme of the console, unless its address has one', () => {
  assert.equal(pictureAddress('[::]:9601', SECURE_CONSOLE), 'https://shop.example:9601/tunnels')
  assert.equal(pictureAddress('vpn.example:9601', SECURE_CONSOLE), 'https://vpn.example:9601/tunnels')
  assert.equal(pictureAddress('http://vpn.example', SECURE_CONSOLE), 'http://vpn.example/tunnels')
  assert.equal(pictureAddress('https://vpn.example', CONSOLE), 'https://vpn.example/tunnels')
})
