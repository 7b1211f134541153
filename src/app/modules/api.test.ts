import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { loadConfig } from '../../config/config.ts'
import { signInAddress } from './api.ts'

const PROVIDER = {
  AUTH_OIDC_ISSUER: 'https://login.example',
  AUTH_OIDC_CLIENT_ID: 'c',
  AUTH_OIDC_CLIENT_SECRET: 's',
}

function addressWith(env: Readonly<Record<string, string>>) {
  const { config } = loadConfig({ env, cwd: tmpdir(), systemConfigPath: '/nonexistent/platform.toml' })
  return signInAddress(config)
}

test('with a provider and the default redirect URI the api listens at its address too', () => {
  assert.deepEqual(addressWith(PROVIDER), { host: '127.0.0.1', port: 9_989 })
})

test('it does not without a provider, with another redirect URI, and where the api or the gateway listens there', () => {
  assert.equal(addressWith({}), undefined)
  const redirect = { AUTH_OIDC_REDIRECT_URI: 'http://127.0.0.1:9600/auth/oauth/callback' }
  assert.equal(addressWith({ ...PROVIDER, ...redirect }), undefined)
  assert.equal(addressWith({ ...PROVIDER, LISTEN_ADDR: '127.0.0.1:9989' }), undefined)
  const gateway = { GATEWAY_LISTEN_ADDR: '0.0.0.0:9989' }
  assert.equal(addressWith({ ...PROVIDER, ...gateway }), undefined)
  assert.ok(addressWith({ ...PROVIDER, ...gateway, MODULE: 'api' }))
})
