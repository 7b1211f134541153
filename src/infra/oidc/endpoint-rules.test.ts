import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EndpointRules, ForbiddenEndpoint } from './endpoint-rules.ts'

const ISSUER = 'https://login.example'
const DOCUMENTED = 'http://203.0.113.10:8088'

function rulesOf(issuer: string, discoveryUrl?: string, allowInsecureEndpoints = false) {
  return new EndpointRules({ issuer, discoveryUrl, allowInsecureEndpoints })
}

test('the metadata is below the issuer, or where the setting says', () => {
  const well = '/.well-known/openid-configuration'
  assert.equal(rulesOf(ISSUER).discoveryUrl, ISSUER + well)
  assert.equal(rulesOf(`${ISSUER}/realms/a/`).discoveryUrl, `${ISSUER}/realms/a${well}`)
  assert.equal(rulesOf(ISSUER, 'https://other.example').discoveryUrl, `https://other.example${well}`)
  assert.equal(
    rulesOf(ISSUER, `https://other.example/x${well}`).discoveryUrl,
    `https://other.example/x${well}`,
  )
})

test('an endpoint without TLS is forbidden', () => {
  for (const endpoint of [
    'http://login.example/token',
    'http://127.0.0.1/token',
    'ftp://login.example/',
    'file:///etc/passwd',
  ])
    assert.throws(() => rulesOf(ISSUER).resolve(endpoint), ForbiddenEndpoint, endpoint)
  assert.equal(rulesOf(ISSUER).resolve('https://tokens.example/token'), 'https://tokens.example/token')
})

test('an endpoint on a loopback address is forbidden unless the issuer has one', () => {
  const addresses = ['127.0.0.1', '127.8.9.1:8443', '[::1]', 'localhost', 'a.localhost', 'LOCALHOST.']
  for (const address of addresses) {
    assert.throws(() => rulesOf(ISSUER).resolve(`https://${address}/token`), ForbiddenEndpoint, address)
    assert.ok(rulesOf('https://localhost:8443').resolve(`https://${address}/token`))
  }
  assert.ok(rulesOf(ISSUER).resolve('https://127.0.0.1.example/token'))
})

test('with allow_insecure_endpoints both are accepted, and nothing but web addresses', () => {
  const rules = rulesOf(ISSUER, undefined, true)
  assert.equal(rules.resolve('http://127.0.0.1:1/token'), 'http://127.0.0.1:1/token')
  assert.throws(() => rules.resolve('file:///etc/passwd'), ForbiddenEndpoint)
})

test('endpoints at the origin of the issuer are reached at the loopback address of the metadata', () => {
  const rules = rulesOf(DOCUMENTED, 'http://127.0.0.1:8088/.well-known/openid-configuration', true)
  assert.equal(rules.resolve(`${DOCUMENTED}/token?a=b`), 'http://127.0.0.1:8088/token?a=b')
  assert.equal(rules.resolve('http://203.0.113.10:9/token'), 'http://203.0.113.10:9/token')
})

test('they are not moved to an address that is no loopback address', () => {
  const rules = rulesOf(DOCUMENTED, 'http://192.0.2.1:8088', true)
  assert.equal(rules.resolve(`${DOCUMENTED}/token`), `${DOCUMENTED}/token`)
})
