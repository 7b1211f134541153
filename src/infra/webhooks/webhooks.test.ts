import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { HOUR } from '../../kernel/time.ts'
import { AddressRules, type Resolve } from './addresses.ts'
import { HttpWebhookCaller } from './webhook-caller.ts'

const cidr = (text: string) => {
  const [address = '', length] = text.split('/')
  return { address, prefixLength: Number(length), family: address.includes(':') ? 'ipv6' : 'ipv4' } as const
}
const PUBLIC = new AddressRules([])
const LOOPBACK = new AddressRules([cidr('127.0.0.0/8')])
const refusalOf = (url: string, rules = PUBLIC) => new HttpWebhookCaller(rules).refusal(url)?.code

for (const host of [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '１２７.0.0.1',
  '0.0.0.0',
  '10.0.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '169.254.169.254',
  '172.31.255.255',
  '192.0.0.192',
  '192.168.1.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:0:10.0.0.1]',
  '[64:ff9b::169.254.169.254]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
]) {
  test(`the address ${host} is refused, with TLS too`, () => {
    assert.equal(refusalOf(`https://${host}/`), 'url_refused')
    assert.equal(refusalOf(`http://${host}/`), 'url_refused')
  })
}

test('public addresses and names are taken with TLS only', () => {
  for (const host of [
    '1.1.1.1',
    '172.32.0.1',
    '[2606:4700::1111]',
    '[::ffff:1.1.1.1]',
    '[64:ff9b::101:101]',
    'shop.example',
  ]) {
    assert.equal(refusalOf(`https://${host}/`), undefined, host)
    assert.equal(refusalOf(`http://${host}/`), 'url_refused', host)
  }
})

test('an allowed network is taken in each form of its addresses, without TLS too; others are not', () => {
  const rules = new AddressRules([cidr('10.1.0.0/16')])
  for (const host of ['10.1.2.3', '[::ffff:10.1.2.3]', '[2002:a01:203::]'])
    assert.equal(refusalOf(`http://${host}/`, rules), undefined, host)
  assert.equal(refusalOf('https://10.2.0.1/', rules), 'url_refused')
  assert.equal(refusalOf('http://1.1.1.1/', rules), 'url_refused')
})

async function endpoint(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const never = new AbortController().signal
const callOf = (url: string) => ({ url, headers: { 'webhook-id': 'one' }, body: '{}' })

test('an answer has its status, the names of its headers and the first KiB', async () => {
  await using server = await endpoint((request, response) => {
    response.writeHead(503, { 'x-secret': 'canary', 'retry-after': '7' })
    response.end('a\0'.repeat(2_000))
  })
  const caller = new HttpWebhookCaller(LOOPBACK)
  const reply = await caller.call(callOf(server.url), never)
  await caller.close()
  assert.ok(!('failure' in reply))
  assert.deepEqual([reply.status, reply.retryAfterMs, reply.body], [503, 7_000, 'a'.repeat(512)])
  assert.ok(reply.headers.includes('x-secret') && !JSON.stringify(reply).includes('canary'))
})

test('a redirect is an answer, and is not followed', async () => {
  let calls = 0
  await using server = await endpoint((_, response) => {
    calls++
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  const caller = new HttpWebhookCaller(LOOPBACK)
  const reply = await caller.call(callOf(server.url), never)
  await caller.close()
  assert.deepEqual(['status' in reply && reply.status, calls], [302, 1])
})

test('an answer without an end is read no further than some KiB', async () => {
  let sent = 0
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  await using server = await endpoint((_, response) => {
    const piece = Buffer.alloc(65_536, 'x')
    const send = () => {
      // 50 MiB in all.
      while (sent < 800 && !response.destroyed) if (!response.write(piece, () => sent++)) break
    }
    response.on('drain', send)
    response.on('close', resolve)
    send()
  })
  const caller = new HttpWebhookCaller(LOOPBACK)
  const reply = await caller.call(callOf(server.url), never)
  await closed
  await caller.close()
  assert.ok('status' in reply && reply.status === 200 && reply.body.length === 1_024)
  assert.ok(sent < 400, `${sent} pieces were sent`)
})

test('a name that leads to a refused address is not connected to, also if its first answer was public', async () => {
  let connections = 0
  await using server = await endpoint((_, response) => {
    connections++
    response.end()
  })
  const answers = ['127.0.0.1', '10.0.0.7']
  const resolve: Resolve = async () => [{ address: answers.shift() ?? '169.254.169.254', family: 4 }]
  const caller = new HttpWebhookCaller(LOOPBACK, resolve)
  const url = `http://rebinding.example:${server.port}/`
  const first = await caller.call(callOf(url), never)
  assert.equal('status' in first && first.status, 200)
  await caller.close()
  const again = new HttpWebhookCaller(LOOPBACK, resolve)
  assert.deepEqual(await again.call(callOf(url), never), { failure: 'address_refused' })
  assert.deepEqual(await again.call(callOf(url), never), { failure: 'address_refused' })
  await again.close()
  assert.equal(connections, 1)
})

test('an endpoint that is away, and one that hangs, are failures', async () => {
  const gone = await endpoint(() => undefined)
  await gone[Symbol.asyncDispose]()
  await using hangs = await endpoint(() => undefined)
  const caller = new HttpWebhookCaller(LOOPBACK, undefined, 50)
  assert.deepEqual(await caller.call(callOf(gone.url), never), { failure: 'connection_refused' })
  assert.deepEqual(await caller.call(callOf(hangs.url), never), { failure: 'timeout' })
  await caller.close()
})

test('a call that waits for its connection ends when the process stops', { timeout: 10_000 }, async () => {
  const [asked, stop] = [Promise.withResolvers<void>(), new AbortController()]
  const resolve: Resolve = () => {
    asked.resolve()
    return new Promise(() => undefined)
  }
  const caller = new HttpWebhookCaller(LOOPBACK, resolve, HOUR)
  const called = caller.call(callOf('http://hangs.example/'), stop.signal)
  await asked.promise
  stop.abort()
  assert.ok('failure' in (await called))
  await caller.close()
})

const BACKLOG = 1
const SERVE = `
  const server = require('node:http').createServer((_, response) => response.writeHead(204).end())
  server.listen({ port: 0, host: '127.0.0.1', backlog: ${BACKLOG} }, () => console.log(server.address().port))`
const SYN_SENT = '02'

/** An endpoint that drops the first packet of each connection until `accept`: its queue is full, and it does not run. */
async function droppingEndpoint() {
  const server = spawn(process.execPath, ['-e', SERVE], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(server.stdout, 'data')) as [Buffer]
  const port = Number(line)
  server.kill('SIGSTOP')
  // Linux takes one more than the backlog.
  const queued = Array.from({ length: BACKLOG + 1 }, () => connect(port, '127.0.0.1'))
  await Promise.all(queued.map((socket) => once(socket, 'connect')))
  return {
    port,
    accept: () => server.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      queued.forEach((socket) => socket.destroy())
      server.kill('SIGKILL')
      await once(server, 'close')
    },
  }
}

function isConnecting(port: number): boolean {
  const remote = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, '0')} ${SYN_SENT} `)
  return remote.test(readFileSync('/proc/net/tcp', 'utf8'))
}

test('an endpoint whose first packet is lost is reached, although its other address cannot be', async () => {
  await using server = await droppingEndpoint()
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]
  const caller = new HttpWebhookCaller(
    new AddressRules([cidr('127.0.0.0/8'), cidr('::1/128')]),
    async () => addresses,
  )
  const called = caller.call(callOf(`http://far.example:${server.port}/`), never)
  await eventually('the first packet is sent', () => isConnecting(server.port))
  server.accept()
  const reply = await called
  assert.equal('status' in reply ? reply.status : reply.failure, 204)
  await caller.close()
})
