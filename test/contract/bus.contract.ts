import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { describe, it } from 'node:test'
import type { Bus, BusMessage, BusState, PublishResult } from '../../src/kernel/bus.ts'
import { newId } from '../../src/kernel/ids.ts'
import { eventually } from '../support/eventually.ts'

/** A connected bus and its server. */
export interface BusWorld {
  readonly bus: Bus
  /** The messages that a subscriber has received, in order, with duplicates. */
  arrived(): readonly BusMessage[]
  stopServer(): Promise<void>
  startServer(): Promise<void>
}

export function message(subject: string, payload: string, more: Partial<BusMessage> = {}): BusMessage {
  return { id: newId(), subject, payload, headers: {}, ...more }
}

export function outcomes(deliveries: readonly PublishResult[]): string[] {
  return deliveries.map((delivery) => delivery.outcome)
}

/** Tests that every implementation of the port `Bus` passes. `open` registers its own clean-up. */
export function describeBusContract(name: string, open: (t: TestContext) => Promise<BusWorld>): void {
  describe(`${name} keeps the contract of a bus`, () => {
    it('delivers messages unchanged and in the given order', async (t) => {
      const { bus, arrived } = await open(t)
      const sent = Array.from({ length: 300 }, (_, at) => message(`order.created`, `payload ${at}`))
      assert.deepEqual(new Set(outcomes(await bus.publish(sent))), new Set(['delivered']))
      await eventually('300 arrivals', () => arrived().length === 300)
      assert.deepEqual(arrived(), sent)
    })

    it('carries headers and text beyond ASCII', async (t) => {
      const { bus, arrived } = await open(t)
      const sent = message('ticket.created', '{"title":"磁盘 ✓ ünï"}', {
        headers: { 'X-Trace': 'ä 1', lower: 'case' },
      })
      assert.deepEqual(outcomes(await bus.publish([sent])), ['delivered'])
      await eventually('the arrival', () => arrived().length === 1)
      assert.deepEqual(arrived(), [sent])
    })

    it('sends overlapping batches in the order of the calls', async (t) => {
      const { bus, arrived } = await open(t)
      const batches = Array.from({ length: 20 }, (_, batch) =>
        Array.from({ length: 20 }, (_ignored, at) => message('order.paid', `${batch}/${at}`)),
      )
      await Promise.all(batches.map((batch) => bus.publish(batch)))
      await eventually('400 arrivals', () => arrived().length === 400)
      assert.deepEqual(arrived(), batches.flat())
    })

    it('accepts an empty batch', async (t) => {
      const { bus } = await open(t)
      assert.deepEqual(await bus.publish([]), [])
    })

    const invalid: readonly [string, BusMessage][] = [
      ['an empty subject', message('', 'x')],
      ['a subject with a space', message('order created', 'x')],
      ['a subject with a line break', message('order.\r\nPUB other 0\r\n', 'x')],
      ['a subject with an empty part', message('order..created', 'x')],
      ['a subject that ends in a dot', message('order.', 'x')],
      ['a subject with a wildcard', message('order.*', 'x')],
      ['a subject with a tail wildcard', message('order.>', 'x')],
      ['a subject that is reserved for the server', message('$JS.API.STREAM.DELETE.PLATFORM', 'x')],
      ['a subject longer than a control line', message(`order.${'x'.repeat(5_000)}`, 'x')],
      ['a payload above the limit', message('order.created', 'x'.repeat(1_048_577))],
      ['a header name with a space', message('order.created', 'x', { headers: { 'not a name': 'x' } })],
      ['a header without a name', message('order.created', 'x', { headers: { '': 'x' } })],
      [
        'a header value with a line break',
        message('order.created', 'x', { headers: { good: 'x\r\nNats-Msg-Id: y' } }),
      ],
      [
        'a header that is a command to the server',
        message('order.created', 'x', { headers: { 'nats-rollup': 'all' } }),
      ],
    ]
    for (const [what, bad] of invalid) {
      it(`refuses ${what}, and only that message`, async (t) => {
        const { bus, arrived } = await open(t)
        const around = [message('order.created', 'before'), message('order.created', 'after')] as const
        const deliveries = await bus.publish([around[0], bad, around[1]])
        assert.deepEqual(outcomes(deliveries), ['delivered', 'refused', 'delivered'])
        assert.ok(deliveries[1]?.outcome === 'refused' && deliveries[1].reason.length > 0)
        await eventually('two arrivals', () => arrived().length === 2)
        assert.deepEqual(arrived(), around)
        assert.equal(bus.state, 'connected')
      })
    }

    it('fails everything while it is disconnected, and delivers it later', async (t) => {
      const world = await open(t)
      const { bus } = world
      const sent = [message('order.created', '1'), message('alert.raised', '2')]
      await world.stopServer()
      await eventually('the bus to be disconnected', () => bus.state === 'disconnected')
      assert.deepEqual(outcomes(await bus.publish(sent)), ['failed', 'failed'])
      await world.startServer()
      await eventually('the bus to be connected', () => bus.state === 'connected')
      assert.deepEqual(outcomes(await bus.publish(sent)), ['delivered', 'delivered'])
    })

    it('reports each change of its state until the listener is removed', async (t) => {
      const world = await open(t)
      const { bus } = world
      const heard: BusState[] = []
      const heardBeforeStop: BusState[] = []
      bus.onState((state) => heard.push(state))
      const stop = bus.onState((state) => heardBeforeStop.push(state))
      await world.stopServer()
      await eventually('the disconnection', () => heard.includes('disconnected'))
      stop()
      await world.startServer()
      await eventually('the reconnection', () => heard.includes('connected'))
      await bus.close()
      assert.deepEqual(heard, ['disconnected', 'connected', 'closed'])
      assert.deepEqual(heardBeforeStop, ['disconnected'])
    })

    it('may be closed several times, and then fails what is published', async (t) => {
      const { bus } = await open(t)
      await Promise.all([bus.close(), bus.close()])
      await bus.close()
      assert.equal(bus.state, 'closed')
      assert.deepEqual(outcomes(await bus.publish([message('order.created', 'late')])), ['failed'])
    })
  })
}
