import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jetstreamManager } from '@nats-io/jetstream'
import { message, outcomes } from '../contract/bus.contract.ts'
import { eventually } from '../support/eventually.ts'
import {
  openClient,
  waitForConnection,
  listen,
  numberedMessages,
  openBus,
  sendAll,
  openServer,
  readStored,
  STREAM_SUBJECTS,
  type Line,
} from '../support/nats-bus.ts'

describe('streams', () => {
  it('drops a duplicate by its id', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const bus = await waitForConnection(openBus(t, [nats.url]))
    const once = message('order.created', 'once')
    assert.deepEqual(outcomes(await bus.publish([once, once])), ['delivered', 'delivered'])
    await bus.publish([once])
    assert.deepEqual(await readStored(t, nats.url, 'PLATFORM'), [once])
  })

  it('confirms a subject without a stream by a flush, among others of the same batch', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const arrived = await listen(t, nats.url)
    const bus = await waitForConnection(openBus(t, [nats.url]))
    const sent = [message('order.created', '1'), message('free.subject', '2'), message('order.created', '3')]
    assert.deepEqual(outcomes(await bus.publish(sent)), ['delivered', 'delivered', 'delivered'])
    await eventually('three arrivals', () => arrived.length === 3)
    assert.deepEqual(arrived, sent)
    const kept = await readStored(t, nats.url, 'PLATFORM')
    assert.deepEqual(
      kept.map((each) => each.payload),
      ['1', '3'],
    )
  })

  it("does not change an operator's stream, and fails the platform's subjects that no stream takes", async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const manager = await jetstreamManager(await openClient(t, nats.url))
    await manager.streams.add({ name: 'MINE', subjects: ['order.created', 'alert.>'], max_msgs: 1_000 })
    const before = (await manager.streams.info('MINE')).config
    const bus = await waitForConnection(openBus(t, [nats.url]))
    const sent = ['order.created', 'alert.raised', 'ticket.created'].map((each) => message(each, each))
    assert.deepEqual(outcomes(await bus.publish(sent)), ['delivered', 'delivered', 'delivered'])
    assert.equal(bus.problem, undefined)
    assert.deepEqual((await manager.streams.info('MINE')).config, before)
    assert.equal((await manager.streams.info('MINE')).state.messages, 2)
    const { config } = await manager.streams.info('PLATFORM')
    assert.deepEqual(config.subjects, ['ticket.>', 'telemetry.agent.>'])

    const paid = message('order.paid', 'x')
    assert.deepEqual(outcomes(await bus.publish([paid, ...sent])), [
      'failed',
      'delivered',
      'delivered',
      'delivered',
    ])
    assert.match(bus.problem ?? '', /order\.paid/)
    await manager.streams.update('MINE', { subjects: ['order.>', 'alert.>'] })
    await eventually('the problem to be over', () => bus.problem === undefined)
    assert.deepEqual(outcomes(await bus.publish([paid])), ['delivered'])
    assert.equal((await readStored(t, nats.url, 'MINE')).at(-1)?.subject, 'order.paid')
  })

  it('reports a problem and delivers nothing while the name of its stream is taken', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const manager = await jetstreamManager(await openClient(t, nats.url))
    await manager.streams.add({ name: 'PLATFORM', subjects: ['something.else'] })
    const lines: Line[] = []
    const bus = await waitForConnection(openBus(t, [nats.url], lines))
    assert.match(bus.problem ?? '', /PLATFORM/)
    const sent = [message('order.created', 'x'), message('free.subject', 'x')]
    assert.deepEqual(outcomes(await bus.publish(sent)), ['failed', 'delivered'])
    assert.deepEqual(outcomes(await bus.publish(sent)), ['failed', 'delivered'])
    assert.deepEqual((await manager.streams.info('PLATFORM')).config.subjects, ['something.else'])
    const warnings = lines.filter(({ level }) => level === 'warn')
    assert.deepEqual(
      warnings.map(({ reason }) => reason),
      [bus.problem],
    )
    await manager.streams.delete('PLATFORM')
    await eventually('the problem to be over', () => bus.problem === undefined)
    assert.deepEqual(outcomes(await bus.publish(sent)), ['delivered', 'delivered'])
    assert.deepEqual(await readStored(t, nats.url, 'PLATFORM'), sent.slice(0, 1))
  })

  it('adds new subjects to the stream that an older version has created', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const older = await waitForConnection(
      openBus(t, [nats.url], [], { streamSubjects: ['order.created', 'ticket.>'] }),
    )
    const sent = [message('order.created', '1'), message('alert.raised', '2')]
    await older.publish(sent)
    const bus = await waitForConnection(openBus(t, [nats.url]))
    assert.deepEqual(outcomes(await bus.publish([message('alert.raised', '3')])), ['delivered'])
    const kept = await readStored(t, nats.url, 'PLATFORM')
    assert.deepEqual(
      kept.map(({ payload }) => payload),
      ['1', '3'],
    )
    const { config } = await (await jetstreamManager(await openClient(t, nats.url))).streams.info('PLATFORM')
    assert.deepEqual(new Set(config.subjects), new Set(STREAM_SUBJECTS))
  })

  it('creates a deleted stream again while messages flow: it has every message that was sent later', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const { streams } = await jetstreamManager(await openClient(t, nats.url))
    const lines: Line[] = []
    const bus = await waitForConnection(openBus(t, [nats.url], lines))
    const sent = numberedMessages(3_000)
    const failures = await sendAll(bus, sent, 250, (batch) => batch % 4 === 1 && streams.delete('PLATFORM'))
    assert.ok(failures > 0)
    const kept = new Set((await readStored(t, nats.url, 'PLATFORM')).map(({ id }) => id))
    const lost = sent.slice(10 * 250).filter(({ id }) => !kept.has(id))
    assert.deepEqual(lost, [])
    assert.equal(bus.problem, undefined)
    assert.ok(lines.some(({ level, text }) => level === 'warn' && text.includes('created again')))
  })

  it('creates a deleted stream again although its subjects have a subscriber', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    await listen(t, nats.url)
    const bus = await waitForConnection(openBus(t, [nats.url]))
    const former = bus.streamMadeAt ?? assert.fail('there is no stream')
    await (await jetstreamManager(await openClient(t, nats.url))).streams.delete('PLATFORM')
    const sent = message('order.created', 'x')
    assert.deepEqual(outcomes(await bus.publish([sent])), ['failed'])
    assert.deepEqual(outcomes(await bus.publish([sent])), ['delivered'])
    assert.deepEqual(await readStored(t, nats.url, 'PLATFORM'), [sent])
    assert.ok((bus.streamMadeAt ?? 0) > former)
  })

  it("confirms a user's own subject by a flush again after its stream was deleted", async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const { streams } = await jetstreamManager(await openClient(t, nats.url))
    await streams.add({ name: 'FREE', subjects: ['free.>'] })
    const bus = await waitForConnection(openBus(t, [nats.url]))
    const sent = message('free.subject', 'x')
    assert.deepEqual(outcomes(await bus.publish([sent])), ['delivered'])
    await streams.delete('FREE')
    assert.deepEqual(outcomes(await bus.publish([sent])), ['failed'])
    assert.deepEqual(outcomes(await bus.publish([sent])), ['delivered'])
    assert.equal(bus.problem, undefined)
  })

  it('does not mistake the answer of a subscriber for an acknowledgement', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const connection = await openClient(t, nats.url)
    connection.subscribe('order.created', { callback: (_error, msg) => void msg.respond('{"thanks":true}') })
    await connection.flush()
    const bus = await waitForConnection(openBus(t, [nats.url]))
    const sent = message('order.created', 'x')
    assert.deepEqual(outcomes(await bus.publish([sent])), ['delivered'])
    await (await jetstreamManager(connection)).streams.delete('PLATFORM')
    assert.deepEqual(outcomes(await bus.publish([sent])), ['failed'])
  })

  it('does not wait for a stream that never acknowledges', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const manager = await jetstreamManager(await openClient(t, nats.url))
    await manager.streams.add({ name: 'SILENT', subjects: ['quiet.>'], no_ack: true })
    const bus = await waitForConnection(openBus(t, [nats.url]))
    assert.deepEqual(outcomes(await bus.publish([message('quiet.one', 'x')])), ['delivered'])
  })

  it('refuses what the stream never accepts', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const manager = await jetstreamManager(await openClient(t, nats.url))
    await manager.streams.add({ name: 'SMALL', subjects: ['small.>'], max_msg_size: 1_000 })
    const bus = await waitForConnection(openBus(t, [nats.url]))
    const headers = { 'X-Long': 'x'.repeat(70_000) }
    const sent = [
      message('small.one', 'x'.repeat(2_000)),
      message('small.one', 'fits'),
      message('order.created', 'x', { headers }),
    ]
    assert.deepEqual(outcomes(await bus.publish(sent)), ['refused', 'delivered', 'refused'])
  })

  it('fails what a full stream does not accept, and the later messages of that subject', async (t) => {
    const nats = await openServer(t, { jetstream: true })
    const manager = await jetstreamManager(await openClient(t, nats.url))
    const full = { name: 'FULL', subjects: ['full.>'], max_bytes: 3_000, discard: 'new' as const }
    await manager.streams.add(full)
    const bus = await waitForConnection(openBus(t, [nats.url]))
    const sent = [message('full.a', 'x'.repeat(5_000)), message('full.a', 'fits'), message('full.b', 'fits')]
    assert.deepEqual(outcomes(await bus.publish(sent)), ['failed', 'failed', 'delivered'])
  })
})
