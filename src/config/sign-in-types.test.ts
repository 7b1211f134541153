import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveSettings } from './resolve.ts'
import { SETTING_TABLE } from './schema.ts'
import { claimName, exactHttpUrl, roleList, roleMap, scopeList } from './sign-in-types.ts'
import { textOfToml } from './value-types.ts'

const parse = (type: { parse(text: string, cwd: string): unknown }, text: string) => type.parse(text, '/')

test('an address is kept as it is written, and has neither credentials nor query', () => {
  for (const good of ['https://login.example', 'https://login.example/', 'http://203.0.113.10:8088/realms/a'])
    assert.equal(parse(exactHttpUrl, good), good)
  for (const bad of [
    'login.example',
    'ftp://login.example',
    'https://',
    'https://a:b@login.example',
    'https://a/?b',
    'https://a/#b',
    'https://a/\\b',
    ' https://a',
  ])
    assert.equal(parse(exactHttpUrl, bad), undefined, bad)
})

test('scopes have spaces between them, or are a list', () => {
  assert.deepEqual(parse(scopeList, 'openid  profile email'), ['openid', 'profile', 'email'])
  assert.deepEqual(parse(scopeList, textOfToml(['openid', 'groups'], scopeList) ?? ''), ['openid', 'groups'])
  assert.equal(scopeList.format(['openid', 'groups']), 'openid groups')
  for (const bad of ['', ' ', 'a"b', 'a\\b', 'é']) assert.equal(parse(scopeList, bad), undefined, bad)
})

test('a list of roles may be empty, and has no other names', () => {
  for (const [text, roles] of [
    ['', []],
    ['none', []],
    ['devops, admin', ['admin', 'devops']],
  ] as const)
    assert.deepEqual(parse(roleList, text), roles)
  assert.deepEqual(parse(roleList, textOfToml([], roleList) ?? 'x'), [])
  for (const bad of ['king', 'admin,', 'ADMIN']) assert.equal(parse(roleList, bad), undefined, bad)
})

test('a map has a role or a list of roles for each value: a table, in the environment JSON', () => {
  const table = { ops: ['devops', 'auditor'], boss: 'admin' }
  const expected = { ops: ['devops', 'auditor'], boss: ['admin'] }
  assert.deepEqual(parse(roleMap, textOfToml(table, roleMap) ?? ''), expected)
  assert.deepEqual(parse(roleMap, JSON.stringify(table)), expected)
  for (const bad of [
    '',
    '{}',
    '[]',
    'null',
    '{"a":[]}',
    '{"a":"king"}',
    '{"a":7}',
    '{"a":["admin",7]}',
    '{"a":{}}',
    '{',
  ])
    assert.equal(parse(roleMap, bad), undefined, bad)
  assert.equal(textOfToml('{"a":"admin"}', roleMap), undefined)
})

test('a claim may be a path or a URL', () => {
  for (const good of ['sub', 'realm_access.roles', 'https://a.example/roles'])
    assert.equal(parse(claimName, good), good)
  for (const bad of ['', 'a b', 'a\n', 'é']) assert.equal(parse(claimName, bad), undefined)
})

const CLIENT = { AUTH_OIDC_CLIENT_ID: 'c', AUTH_OIDC_CLIENT_SECRET: 's' }

function problems(env: Readonly<Record<string, string>>): string[] {
  const resolved = resolveSettings(
    SETTING_TABLE,
    { values: new Map(), commands: [], templates: [], channels: [], receivers: [], routes: [], problems: [] },
    { env, cwd: '/' },
  )
  return [...resolved.values()].flatMap(({ problem }) =>
    problem ? `${problem.key}: ${problem.expected}` : [],
  )
}

test('a provider needs an id and a secret, and they need a provider', () => {
  assert.deepEqual(problems({ AUTH_OIDC_ISSUER: 'https://a.example', AUTH_OIDC_CLIENT_ID: 'c' }), [
    'auth.oidc.issuer: auth.oidc.client_secret beside it',
  ])
  assert.deepEqual(problems(CLIENT), [
    'auth.oidc.client_id: auth.oidc.issuer beside it',
    'auth.oidc.client_secret: auth.oidc.issuer beside it',
  ])
  assert.deepEqual(problems({ ...CLIENT, AUTH_OIDC_ISSUER: 'https://a.example' }), [])
})

test('an address of the metadata without TLS, or on this machine only, needs allow_insecure_endpoints', () => {
  const cases: readonly (readonly [issuer: string, discovery: string, problem?: RegExp])[] = [
    ['http://a.example', '', /^auth\.oidc\.issuer: an https:/],
    ['http://127.0.0.1:8088', '', /^auth\.oidc\.issuer: an https:/],
    ['https://127.0.0.1:8443', ''],
    ['https://a.example', 'http://b.example', /^auth\.oidc\.discovery_url: an https:/],
    ['https://a.example', 'https://localhost', /^auth\.oidc\.discovery_url: no loopback address/],
    ['https://a.example', 'https://b.example'],
    ['https://localhost', 'https://127.0.0.1'],
  ]
  for (const [issuer, discovery, problem] of cases) {
    const env = { ...CLIENT, AUTH_OIDC_ISSUER: issuer, AUTH_OIDC_DISCOVERY_URL: discovery }
    const [first, ...others] = problems(env)
    assert.deepEqual(others, [])
    if (problem) assert.match(first ?? '', problem)
    else assert.equal(first, undefined)
    assert.deepEqual(problems({ ...env, AUTH_OIDC_ALLOW_INSECURE_ENDPOINTS: '1' }), [])
  }
})
