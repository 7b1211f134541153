import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { jetstreamManager } from '@nats-io/jetstream'
import { message, outcomes } from '../contract/bus.contract.ts'
import { eventually } from '../support/eventually.ts'
import { listen, openBus, openClient, openServer, type Line } from '../support/nats-bus.ts'
import { openNatsCluster, startClusterMember } from '../support/nats-cluster.ts'
import type { Bus } from '../../src/kernel/bus.ts'

const PATIENCE = { timeoutMs: 60_000 }

const delivers = async (bus: Bus, subject: string, number: string) =>
  outcomes(await bus.publish([message(subject, number)]))[0] === 'delivered'

async function replicasOf(t: TestContext, url: string): Promise<number> {
  const manager = await jetstreamManager(await openClient(t, url))
  const { config } = await manager.streams.info('PLATFORM')
  return config.num_replicas
}

describe('a cluster of servers', { concurrency: true }, () => {
  it('stores the stream as often as configured, changes an existing one, and leaves one that stopped answering', async (t) => {
    const servers = await openNatsCluster(t, 3)
    const urls = servers.map(({ url }) => url)
    const [url = ''] = urls
    const single = openBus(t, urls)
    await eventually('a delivery', () => delivers(single, 'order.created', '1'), PATIENCE)
    assert.equal(await replicasOf(t, url), 1)
    await single.close()

    const lines: Line[] = []
    const bus = openBus(t, urls, lines, { replicas: 3 })
    await eventually('three replicas', async () => (await replicasOf(t, url)) === 3, PATIENCE)
    await eventually('a delivery', () => delivers(bus, 'order.created', '2'), PATIENCE)

    await servers[0]?.kill()
    await eventually('a delivery by another server', () => delivers(bus, 'order.created', '3'), PATIENCE)
  })

  it('replaces the leader of a stream that acknowledges nothing', async (t) => {
    // The stream gets no message, as if its leader could not store any.
    const servers = await openNatsCluster(t, 3, 'mappings = { "order.>": "lost.>" }')
    const [url = '', ...others] = servers.map((server) => server.url)
    await listen(t, url, ['lost.>'])
    const lines: Line[] = []
    const bus = openBus(t, [url, ...others], lines, { replicas: 3 })
    await eventually('a delivery', () => delivers(bus, 'ticket.created', '1'), PATIENCE)
    const manager = await jetstreamManager(await openClient(t, url))
    const leader = async () => (await manager.streams.info('PLATFORM')).cluster?.leader
    const first = await leader()
    const isReplaced = () => lines.some(({ text }) => text.endsWith('it gets another leader'))
    for (let batch = 1; !isReplaced(); batch++) {
      assert.ok(batch <= 10, JSON.stringify(lines))
      assert.equal(await delivers(bus, 'order.created', `${batch}`), false)
    }
    await eventually('another leader', async () => ![undefined, first].includes(await leader()), PATIENCE)
    assert.equal(await delivers(bus, 'ticket.created', '2'), true)
  })

  it('goes to another server when JetStream does not answer on this one', async (t) => {
    const cutOff = await startClusterMember(['127.0.0.2', '127.0.0.3'])
    t.after(() => cutOff.stop())
    const other = await openServer(t, { jetstream: true })
    const lines: Line[] = []
    const bus = openBus(t, [cutOff.url, other.url], lines)
    await eventually('a delivery', () => delivers(bus, 'order.created', '1'), PATIENCE)
    assert.ok(lines.some((line) => line['reason'] === 'JetStream does not answer; another server is tried'))
  })
})
