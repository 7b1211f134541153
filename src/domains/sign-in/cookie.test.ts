import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrowserCookie } from './cookie.ts'
import { newBrowserKey } from './flow-state.ts'

const KEY = newBrowserKey()
const local = new BrowserCookie('http://127.0.0.1:9989/auth/oauth/callback')
const remote = new BrowserCookie('https://platform.example/auth/oauth/callback')

test('over http the cookie is for the paths of the sign-in, for ten minutes, and not for scripts', () => {
  assert.equal(
    local.write(KEY),
    `platform-sign-in=${KEY}; Path=/auth/oauth; Max-Age=600; HttpOnly; SameSite=Lax`,
  )
})

test('over https it is secure, and no other host of the domain can set it', () => {
  assert.equal(
    remote.write(KEY),
    `__Host-platform-sign-in=${KEY}; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure`,
  )
})

test('behind a prefix the cookie is for the paths below it', () => {
  assert.match(
    new BrowserCookie('http://h.example/p/auth/oauth/callback').write(KEY),
    /; Path=\/p\/auth\/oauth;/,
  )
})

test('the cookie is found among others, and anything of another form is none', () => {
  assert.equal(local.read(`a=b; platform-sign-in=${KEY}; c=d`), KEY)
  assert.equal(remote.read(`__Host-platform-sign-in=${KEY}`), KEY)
  for (const header of [
    undefined,
    '',
    'a=b',
    `platform-sign-in=${KEY}x`,
    `x-platform-sign-in=${KEY}`,
    'platform-sign-in',
  ])
    assert.equal(local.read(header), undefined, String(header))
})
