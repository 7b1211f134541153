import assert from 'node:assert/strict'
import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextLoop } from 'node:timers/promises'
import { temporaryDirectory } from '../../../test/support/platform.ts'
import { createHostResolver, type ResolvedAddress } from './resolve-host.ts'

const HEADER_BYTES = 12
const TYPE_A = 1
const NO_SUCH_NAME = 3

/**
 * A DNS server (RFC 1035): names that begin with `hangs` get no answer until `release`; `known` and `halved` have an address,
 * and the question for an IPv6 address of `halved` gets no answer.
 */
async function dnsDouble() {
  const socket = createSocket('udp4')
  let dropped = 0
  const hanging: [query: Buffer, client: RemoteInfo][] = []
  const refuse = (query: Buffer, { port, address }: RemoteInfo) =>
    socket.send(answerTo(query, NO_SUCH_NAME), port, address)
  socket.on('message', (query, client) => {
    const name = query.toString('latin1', HEADER_BYTES + 1, HEADER_BYTES + 1 + (query[HEADER_BYTES] ?? 0))
    if (name.startsWith('hangs')) return void hanging.push([query, client])
    const isForIpv4 = query.readUInt16BE(query.indexOf(0, HEADER_BYTES) + 1) === TYPE_A
    if (name === 'halved' && !isForIpv4) return void dropped++
    const isKnown = ['known', 'halved'].includes(name) && isForIpv4
    if (!isKnown) return refuse(query, client)
    const record = Buffer.from('c00c00010001000000000004c6336407', 'hex')
    socket.send(Buffer.concat([answerTo(query, 0, 1), record]), client.port, client.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    servers: [`127.0.0.1:${socket.address().port}`],
    dropped: () => dropped,
    release: () => hanging.forEach(([query, client]) => refuse(query, client)),
    [Symbol.dispose]: () => void socket.close(),
  }
}

/** The head and the question of an answer. */
function answerTo(query: Buffer, code: number, records = 0): Buffer {
  const answer = Buffer.from(query.subarray(0, query.indexOf(0, HEADER_BYTES) + 5))
  answer.writeUInt16BE(0x8180 | code, 2)
  answer.writeUInt16BE(records, 6)
  answer.writeUInt32BE(0, 8)
  return answer
}

const unknown = async () => Promise.reject(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }))

test('a hundred names whose servers hang delay neither another name nor a file', async () => {
  using dns = await dnsDouble()
  const resolve = createHostResolver({ servers: dns.servers, lookUp: unknown })
  let ended = 0
  const hanging = Array.from({ length: 100 }, (_, index) =>
    resolve(`hangs${index}.example`).catch(() => void ended++),
  )
  assert.deepEqual(await resolve('known.example'), [{ address: '198.51.100.7', family: 4 }])
  await readFile(import.meta.filename)
  assert.equal(ended, 0)
  dns.release()
  await Promise.all(hanging)
})

test('a name whose servers drop the question for IPv6 is resolved without a second try', async () => {
  using dns = await dnsDouble()
  const resolve = createHostResolver({ servers: dns.servers, lookUp: unknown })
  assert.deepEqual(await resolve('halved.example'), [{ address: '198.51.100.7', family: 4 }])
  assert.equal(dns.dropped(), 1)
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
