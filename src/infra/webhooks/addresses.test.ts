import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import os from 'node:os'
import { test } from 'node:test'
import { setImmediate as nextLoop } from 'node:timers/promises'
import { startDns } from '../../../test/support/dns.ts'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { createHostResolver, type ResolvedAddress } from './addresses.ts'

const IPV4 = '198.51.100.7'
const IPV6 = '2001:db8:0:0:0:0:0:7'

/**
 * Names that begin with `hangs` get no answer until `release`; `known` and `halved` have an address, and the question for an
 * IPv6 address of `halved` gets no answer. `late-4` and `late-6` have both addresses, the one of that family after `release`.
 */
async function dnsDouble() {
  let dropped = 0
  const hanging: (() => void)[] = []
  const dns = await startDns(({ label, isForIpv4 }, answer) => {
    const [begin, lateFamily] = label.split('-')
    if (label.startsWith('hangs')) hanging.push(() => answer())
    else if (label === 'halved' && !isForIpv4) dropped++
    else if (begin === 'late') {
      const send = () => answer(isForIpv4 ? IPV4 : IPV6)
      if (isForIpv4 === (lateFamily === '4')) hanging.push(send)
      else send()
    } else answer(['known', 'halved'].includes(label) && isForIpv4 ? IPV4 : undefined)
  })
  return {
    servers: [dns.server],
    dropped: () => dropped,
    release: () => hanging.forEach((answer) => answer()),
    [Symbol.dispose]: () => dns[Symbol.dispose](),
  }
}

const unknown = async () => Promise.reject(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }))

test('a hundred names whose servers hang delay neither another name nor a file', async () => {
  using dns = await dnsDouble()
  const resolve = createHostResolver({ servers: dns.servers, lookUp: unknown })
  let ended = 0
  const hanging = Array.from({ length: 100 }, (_, index) =>
    resolve(`hangs${index}.example`).catch(() => void ended++),
  )
  assert.deepEqual(await resolve('known.example'), [{ address: IPV4, family: 4 }])
  await readFile(import.meta.filename)
  assert.equal(ended, 0)
  dns.release()
  await Promise.all(hanging)
})

test('a name whose servers drop the question for IPv6 is resolved without a second try', async () => {
  using dns = await dnsDouble()
  const isIpv6Only = () => false
  const resolve = createHostResolver({ servers: dns.servers, lookUp: unknown, isIpv6Only })
  assert.deepEqual(await resolve('halved.example'), [{ address: IPV4, family: 4 }])
  assert.equal(dns.dropped(), 1)
})

for (const [family, isIpv6Only] of [
  [4, false],
  [6, true],
] as const) {
  test(`a host that calls IPv${family} addresses waits for those, also if the others are there at once`, async () => {
    using dns = await dnsDouble()
    const resolve = createHostResolver({
      servers: dns.servers,
      lookUp: unknown,
      isIpv6Only: () => isIpv6Only,
    })
    const late = resolve(`late-${family}.example`)
    // By then an answer for one family has waited for the other one for long enough.
    const other = createHostResolver({ servers: dns.servers, lookUp: unknown, isIpv6Only: () => false })
    await other('halved.example')
    dns.release()
    const addresses = await late
    assert.deepEqual(
      addresses.map((each) => each.family),
      [4, 6],
    )
  })
}

test('a name is resolved where a unit forbids to ask for the addresses of the host', async (t) => {
  t.mock.method(os, 'networkInterfaces', () => {
    throw new Error('uv_interface_addresses returned Unknown system error 97')
  })
  using dns = await dnsDouble()
  const resolve = createHostResolver({ servers: dns.servers, lookUp: unknown })
  assert.deepEqual(await resolve('known.example'), [{ address: IPV4, family: 4 }])
})

test('the hosts file is asked first, and the system for what DNS does not have', async () => {
  using dns = await dnsDouble()
  using directory = temporaryDirectory()
  const hostsFile = join(directory.path, 'hosts')
  await writeFile(
    hostsFile,
    '# known.example\n192.0.2.1 other Known.Example # 2\n2001:db8::1\tknown.example\n',
  )
  const lookUp = async (name: string) => [{ address: '192.0.2.9', family: name.length }]
  const resolve = createHostResolver({ servers: dns.servers, hostsFile, lookUp })
  assert.deepEqual(await resolve('known.example'), [
    { address: '192.0.2.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ])
  assert.deepEqual(await resolve('nowhere'), [{ address: '192.0.2.9', family: 7 }])
})

test('the system resolves two names at a time, so that its threads are left for others', async () => {
  using dns = await dnsDouble()
  const asked: ((addresses: readonly ResolvedAddress[]) => void)[] = []
  const lookUp = () => new Promise<readonly ResolvedAddress[]>((answer) => asked.push(answer))
  const resolve = createHostResolver({ servers: dns.servers, lookUp })
  const resolved = Promise.all(['a', 'b', 'c', 'd'].map(resolve))
  for (let answered = 0; answered < 4; answered++) {
    while (asked.length <= answered) await nextLoop()
    assert.ok(asked.length - answered <= 2)
    asked[answered]?.([])
  }
  assert.equal((await resolved).length, 4)
})
