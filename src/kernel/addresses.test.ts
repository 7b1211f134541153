import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clientNetwork, formatIpv4, parseIpv4, parsePostgresUrl } from './addresses.ts'

test('an IPv4 address is a number and its dotted form', () => {
  for (const [dotted, address] of [
    ['0.0.0.0', 0],
    ['100.64.0.2', 1_681_915_906],
    ['255.255.255.255', 2 ** 32 - 1],
  ] as const) {
    assert.equal(parseIpv4(dotted), address)
    assert.equal(formatIpv4(address), dotted)
  }
})

test('no other text is an IPv4 address', () => {
  for (const text of ['', '1.2.3', '1.2.3.4.5', '1.2.3.256', '1.2.3.-4', '1.2.3.', '1.2.3.0x4', '::1'])
    assert.equal(parseIpv4(text), undefined, text)
})

const NETWORKS: readonly (readonly [address: string, network: string])[] = [
  ['192.0.2.1', '192.0.2.1'],
  ['', ''],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:2::', '2001:db8:1:2::/64'],
  ['2001:db8::2', '2001:db8:0:0::/64'],
  ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::2:3:4:5:192.0.2.1', '0:0:2:3::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
]

for (const [address, network] of NETWORKS) {
  test(`the network of ${JSON.stringify(address)} is ${JSON.stringify(network)}`, () => {
    assert.equal(clientNetwork(address), network)
  })
}

test('a URL with one host stays as it is, and takes any server', () => {
  for (const url of ['postgres://me:pa%40ss@db:5432/shop?sslmode=require', 'postgres:///shop?host=/run/pg'])
    assert.deepEqual(parsePostgresUrl(url), { urls: [url], role: 'any', pgbouncer: false })
})

test('a URL with several hosts names one URL for each, and takes the one that takes changes', () => {
  assert.deepEqual(
    parsePostgresUrl('postgresql://me:secret@db1:5432,[fd00::2]:5433,db3/shop?sslmode=require'),
    {
      urls: [
        'postgresql://me:secret@db1:5432/shop?sslmode=require',
        'postgresql://me:secret@[fd00::2]:5433/shop?sslmode=require',
        'postgresql://me:secret@db3/shop?sslmode=require',
      ],
      role: 'read-write',
      pgbouncer: false,
    },
  )
})

test('target_session_attrs chooses the server and is not passed on', () => {
  const one = 'postgres://db/shop'
  assert.deepEqual(parsePostgresUrl(`${one}?target_session_attrs=read-write`), {
    urls: [one],
    role: 'read-write',
    pgbouncer: false,
  })
  assert.deepEqual(parsePostgresUrl(`${one}?a=1&target_session_attrs=any&b=2`), {
    urls: [`${one}?a=1&b=2`],
    role: 'any',
    pgbouncer: false,
  })
  assert.deepEqual(parsePostgresUrl('postgres://a,b/shop?target_session_attrs=primary')?.role, 'read-write')
})

test('pgbouncer=true is not passed on', () => {
  const one = 'postgres://pooler:6432/shop'
  assert.deepEqual(parsePostgresUrl(`${one}?pgbouncer=true`), { urls: [one], role: 'any', pgbouncer: true })
})

test('an empty host in a list, a second list and other attributes are refused', () => {
  const refused = [
    'postgres://a,,b/shop',
    'postgres://a,b/shop?host=c',
    'postgres://a,b/shop?target_session_attrs=standby',
    'postgres://a/shop?pgbouncer=yes',
    'postgres://a:1x,b/shop',
    'mysql://a/shop',
  ]
  for (const url of refused) assert.equal(parsePostgresUrl(url), undefined, url)
})

test('a list of any hosts is taken apart into the URL of each, and nothing else changes', () => {
  const host = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.ipV6().map((address) => `[${address}]`),
  )
  const hostWithPort = fc.oneof(
    host,
    fc.tuple(host, fc.integer({ min: 1, max: 65_535 })).map((pair) => pair.join(':')),
  )
  const login = fc.constantFrom('', 'me@', 'me:p%40ss,w%2Frd@')
  const query = fc.constantFrom('', '?sslmode=require', '?application_name=a%2Cb&sslmode=require')
  fc.assert(
    fc.property(login, fc.array(hostWithPort, { minLength: 1, maxLength: 5 }), query, (me, hosts, rest) => {
      const parsed = parsePostgresUrl(`postgres://${me}${hosts.join(',')}/shop${rest}`)
      assert.deepEqual(
        parsed?.urls,
        hosts.map((each) => `postgres://${me}${each}/shop${rest}`),
      )
    }),
  )
})
