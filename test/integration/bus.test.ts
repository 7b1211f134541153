import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { describe, it } from 'node:test'
import type { BusWorld } from '../contract/bus.contract.ts'
import { describeBusContract, message, outcomes } from '../contract/bus.contract.ts'
import { MINUTE } from '../../src/kernel/time.ts'
import { WITHOUT_JETSTREAM } from '../../src/infra/bus/nats.ts'
import { fakeClock } from '../support/clock.ts'
import { eventually } from '../support/eventually.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { MemoryBus } from '../support/memory-bus.ts'
import { freePort } from '../support/loopback.ts'
import {
  bySubject,
  waitForConnection,
  firstOfEach,
  listen,
  numberedMessages,
  openBus,
  sendAll,
  openServer,
  readStored,
  type Line,
} from '../support/nats-bus.ts'

async function natsWorld(t: TestContext, jetstream: boolean): Promise<BusWorld> {
  const nats = await openServer(t, { jetstream })
  const arrived = await listen(t, nats.url)
  const bus = await waitForConnection(openBus(t, [nats.url]))
  return { bus, arrived: () => arrived, stopServer: () => nats.kill(), startServer: () => nats.restart() }
}

describeBusContract('NATS with JetStream', (t) => natsWorld(t, true))
describeBusContract('NATS without JetStream', (t) => natsWorld(t, false))
describeBusContract('the bus in memory', async () => {
  const bus = new MemoryBus()
  return {
    bus,
    arrived: () => bus.arrived,
    stopServer: async () => bus.disconnect(),
    startServer: async () => bus.connect(),
  }
})

describe('connecting to NATS', () => {
  it('connects to a server that starts later, and logs the failure, that it lasts and the connection once each', async (t) => {
    const port = await freePort()
    const lines: Line[] = []
    const clock = fakeClock()
    const bus = openBus(t, [`nats://127.0.0.1:${port}`], lines, { clock })
    await eventually('the first log line', () => lines.length > 0)
    assert.equal(bus.state, 'disconnected')
    clock.advance(MINUTE)
    await eventually('the line that it lasts', () => lines.length > 1)
    await openServer(t, { jetstream: true, port })
    await waitForConnection(bus)
    const logged = lines.filter((line) => line.text !== 'bus stream created')
    assert.deepEqual(
      logged.map((line) => line.level),
      ['warn', 'error', 'info'],
    )
    assert.match(String(logged[0]?.['reason']), /ECONNREFUSED/)
    assert.deepEqual([logged[2]?.['jetstream'], logged[2]?.['seconds']], [true, 60])
  })

  it('recognises a server without JetStream even if a subscriber of all subjects hides it', async (t) => {
    const nats = await openServer(t, { jetstream: false })
    const arrived = await listen(t, nats.url, ['>'])
    const lines: Line[] = []
    const bus = await waitForConnection(openBus(t, [nats.url], lines))
    const sent = message('order.created', 'x')
    assert.deepEqual(outcomes(await bus.publish([sent])), ['delivered'])
    assert.ok(arrived.some((each) => each.id === sent.id))
    assert.equal(lines[0]?.['jetstream'], false)
    assert.deepEqual([lines[1]?.['level'], lines[1]?.['text']], ['warn', WITHOUT_JETSTREAM])
  })

  it('connects to the next server if the first one is down', async (t) => {
    const nats = await openServer(t, { jetstream: false })
    const bus = openBus(t, [`nats://127.0.0.1:${await freePort()}`, nats.url])
    await waitForConnection(bus)
  })

  const accounts = 'authorization { users: [{ user: "me", password: "p@ss w%rd" }] }'
  const credentials: readonly [string, string, string][] = [
    ['user and password', accounts, 'me:p%40ss%20w%25rd'],
    ['token', 'authorization { token: "s3cret-token" }', 's3cret-token'],
  ]
  for (const [what, config, userinfo] of credentials) {
    it(`reads ${what} from the address and does not log it`, async (t) => {
      const nats = await openServer(t, { jetstream: true, config })
      const lines: Line[] = []
      await waitForConnection(openBus(t, [`nats://${userinfo}@127.0.0.1:${nats.port}`], lines))
      assert.ok(lines.some((line) => line['server'] === `nats://127.0.0.1:${nats.port}`))
      assert.doesNotMatch(JSON.stringify(lines), /p%40ss|p@ss|s3cret/)
    })
  }

  it('logs one error if the server refuses its credentials, and keeps trying', async (t) => {
    const nats = await openServer(t, { jetstream: false, config: 'authorization { token: "right" }' })
    const proxy = await startFaultProxy(nats.port)
    t.after(() => proxy.close())
    const lines: Line[] = []
    const bus = openBus(t, [`nats://wrong@127.0.0.1:${proxy.port}`], lines)
    await eventually('some attempts', () => proxy.taken > 6)
    assert.equal(bus.state, 'disconnected')
    assert.deepEqual(
      lines.map((line) => line.level),
      ['error'],
    )
    assert.doesNotMatch(JSON.stringify(lines), /wrong/)
  })

  it('explains an invalid address without logging it', async (t) => {
    const lines: Line[] = []
    openBus(t, ['http://me:hidden@'], lines)
    await eventually('the log line', () => lines.length > 0)
    assert.match(String(lines[0]?.['reason']), /nats:\/\/host:port/)
    assert.doesNotMatch(JSON.stringify(lines), /hidden/)
  })

  it('closes while the server is down or accepts connections without a greeting', async (t) => {
    const nats = await openServer(t, { jetstream: false })
    nats.pause()
    for (const port of [await freePort(), nats.port]) {
      const bus = openBus(t, [`nats://127.0.0.1:${port}`])
      await bus.close()
    }
  })
})

describe('a bus whose connection breaks', () => {
  it('loses, duplicates and reorders nothing on JetStream while the server is killed repeatedly', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const bus = await waitForConnection(openBus(t, [nats.url]))
    const sent = numberedMessages(3_000)
    const failures = await sendAll(bus, sent, 250, async (batch) => {
      if (batch % 3 !== 1) return
      await pause(batch % 7) // so that each time another part of the batch has arrived
      await nats.kill()
      await nats.restart()
    })
    assert.ok(failures > 0)
    const kept = await readStored(t, nats.url, 'PLATFORM')
    assert.equal(kept.length, sent.length)
    assert.deepEqual(bySubject(kept), bySubject(sent))
  })

  for (const jetstream of [true, false]) {
    it(`loses nothing when its connection is cut ${jetstream ? 'with' : 'without'} JetStream`, async (t) => {
      const nats = await openServer(t, { jetstream })
      const proxy = await startFaultProxy(nats.port)
      t.after(() => proxy.close())
      const arrived = await listen(t, nats.url)
      const bus = await waitForConnection(openBus(t, [`nats://127.0.0.1:${proxy.port}`]))
      const sent = numberedMessages(3_000)
      const failures = await sendAll(
        bus,
        sent,
        250,
        (batch) => batch % 2 === 1 && setTimeout(proxy.cut, batch % 7),
      )
      assert.ok(failures > 0)
      await eventually('the last arrival', () => firstOfEach(arrived).length === sent.length)
      assert.deepEqual(bySubject(firstOfEach(arrived)), bySubject(sent))
    })
  }

  it('returns a result for every message if it is closed while publishing', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const bus = await waitForConnection(openBus(t, [nats.url]))
    const sent = numberedMessages(1_000)
    const publishing = bus.publish(sent)
    await bus.close()
    const deliveries = await publishing
    const delivered = sent.filter((_, index) => deliveries[index]?.outcome === 'delivered')
    const kept = new Set((await readStored(t, nats.url, 'PLATFORM')).map((each) => each.id))
    assert.equal(deliveries.length, sent.length)
    assert.ok(delivered.every((each) => kept.has(each.id)))
  })
})

// Detection takes nine seconds, so these tests run concurrently.
describe('a server that hangs', { concurrency: true }, () => {
  for (const jetstream of [true, false]) {
    it(`fails what a hanging server does not confirm ${jetstream ? 'with' : 'without'} JetStream`, async (t) => {
      const nats = await openServer(t, { jetstream })
      const bus = await waitForConnection(openBus(t, [nats.url]))
      const sent = numberedMessages(10)
      nats.pause()
      assert.deepEqual(new Set(outcomes(await bus.publish(sent))), new Set(['failed']))
      await eventually('the bus to detect it', () => bus.state === 'disconnected')
      nats.resume()
      await waitForConnection(bus)
      assert.deepEqual(new Set(outcomes(await bus.publish(sent))), new Set(['delivered']))
      if (jetstream) assert.equal((await readStored(t, nats.url, 'PLATFORM')).length, sent.length)
    })
  }

  it('detects a hanging server even if the socket buffers are full', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const bus = await waitForConnection(openBus(t, [nats.url]))
    nats.pause()
    const large = Array.from({ length: 40 }, () => message('order.created', 'x'.repeat(500_000)))
    assert.deepEqual(new Set(outcomes(await bus.publish(large))), new Set(['failed']))
    await eventually('the bus to detect it', () => bus.state === 'disconnected')
  })

  it('closes although the server hangs, and fails open messages', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const bus = await waitForConnection(openBus(t, [nats.url]))
    nats.pause()
    const publishing = bus.publish(numberedMessages(10))
    await bus.close()
    assert.deepEqual(new Set(outcomes(await publishing)), new Set(['failed']))
  })
})

describe('limits of the server', () => {
  const rights = (jetstream: boolean): string => {
    const deny = ['order.secret', ...(jetstream ? [] : ['$JS.API.>'])]
    return `authorization { users: [{ user: u, password: p, permissions: { publish: { deny: ${JSON.stringify(deny)} } } }] }`
  }
  for (const jetstream of [true, false]) {
    const streams = jetstream ? 'with' : 'without'
    it(`refuses a subject that it has no right to publish on, ${streams} rights on streams`, async (t) => {
      const nats = await openServer(t, { jetstream: true, config: rights(jetstream) })
      const bus = await waitForConnection(openBus(t, [`nats://u:p@127.0.0.1:${nats.port}`]))
      const sent = [
        message('order.created', '1'),
        message('order.secret', '2'),
        message('order.created', '3'),
      ]
      assert.deepEqual(outcomes(await bus.publish(sent)), ['delivered', 'refused', 'delivered'])
      assert.equal(bus.state, 'connected')
    })
  }

  it('includes the headers in the size of a message', async (t) => {
    const nats = await openServer(t, { jetstream: false, config: 'max_payload: 1000' })
    const bus = await waitForConnection(openBus(t, [nats.url]))
    const sent = [
      message('a', 'x'.repeat(600)),
      message('a', 'x'.repeat(600), { headers: { h: 'y'.repeat(400) } }),
    ]
    assert.deepEqual(outcomes(await bus.publish(sent)), ['delivered', 'refused'])
  })

  it('publishes on the longest valid subject', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const bus = await waitForConnection(openBus(t, [nats.url]))
    const sent = [
      message(`order.${'x'.repeat(3_894)}`, 'x'.repeat(1_000_000)),
      message('order.created', 'after'),
    ]
    assert.deepEqual(outcomes(await bus.publish(sent)), ['delivered', 'delivered'])
  })
})
