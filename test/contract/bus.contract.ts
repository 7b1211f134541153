import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { describe, it } from 'node:test'
import type { Bus, BusMessage, BusState, PublishResult } from '../../src/kernel/bus.ts'
import { newId } from '../../src/kernel/ids.ts'
import { eventually } from '../support/eventually.ts'

/** A bus that is connected, and the world around it. */
export interface BusWorld {
  readonly bus: Bus
  /** Every arrival in order, as a subscriber sees it. */
  arrived(): readonly BusMessage[]
  goAway(): Promise<void>
  comeBack(): Promise<void>
}

export function message(subject: string, payload: string, more: Partial<BusMessage> = {}): BusMessage {
  return { id: newId(), subject, payload, headers: {}, ...more }
}

export function outcomes(deliveries: readonly PublishResult[]): string[] {
  return deliveries.map((delivery) => delivery.outcome)
}

/** What every implementation of the port `Bus` promises. `open` registers its own clean-up. */
export function describeBusContract(name: string, open: (t: TestContext) => Promise<BusWorld>): void {
  describe(`${name} keeps the contract of a bus`, () => {
    it('delivers messages whole and in the order given', async (t) => {
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

    it('sends batches that overlap in the order of the calls', async (t) => {
      const { bus, arrived } = await open(t)
      const batches = Array.from({ length: 20 }, (_, batch) =>
        Array.from({ length: 20 }, (_ignored, at) => message('order.paid', `${batch}/${at}`)),
      )
      await Promise.all(batches.map((batch) => bus.publish(batch)))
      await eventually('400 arrivals', () => arrived().length === 400)
      assert.deepEqual(arrived(), batches.flat())
    })

    it('takes an empty batch', async (t) => {
      const { bus } = await open(t)
      assert.deepEqual(await bus.publish([]), [])
    })

    const unfit: readonly [string, BusMessage][] = [
      ['an empty subject', message('', 'x')],
      ['a subject with a blank', message('order created', 'x')],
      ['a subject with a line break', message('order.\r\nPUB other 0\r\n', 'x')],
      ['a subject with an empty part', message('order..created', 'x')],
      ['a subject that ends in a dot', message('order.', 'x')],
      ['a subject with a wildcard', message('order.*', 'x')],
      ['a subject with a tail wildcard', message('order.>', 'x')],
      ["a subject of the server's own", message('$JS.API.STREAM.DELETE.PLATFORM', 'x')],
      ['a subject longer than a control line', message(`order.${'x'.repeat(5_000)}`, 'x')],
      ['a payload beyond the limit', message('order.created', 'x'.repeat(1_048_577))],
      ['a header name with a blank', message('order.created', 'x', { headers: { 'not a name': 'x' } })],
      ['a header without a name', message('order.created', 'x', { headers: { '': 'x' } })],
      [
        'a header value with a line break',
        message('order.created', 'x', { headers: { good: 'x\r\nNats-Msg-Id: y' } }),
      ],
      [
        'a header that steers the server',
        message('order.created', 'x', { headers: { 'nats-rollup': 'all' } }),
      ],
    ]
    for (const [what, bad] of unfit) {
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

    it('fails everything while it is away, and delivers it when asked again', async (t) => {
      const world = await open(t)
      const { bus } = world
      const sent = [message('order.created', '1'), message('alert.raised', '2')]
      await world.goAway()
      await eventually('the bus to see it', () => bus.state === 'disconnected')
      assert.deepEqual(outcomes(await bus.publish(sent)), ['failed', 'failed'])
      await world.comeBack()
      await eventually('the bus to be back', () => bus.state === 'connected')
      assert.deepEqual(outcomes(await bus.publish(sent)), ['delivered', 'delivered'])
    })

    it('tells each change of its state, until that is no longer wanted', async (t) => {
      const world = await open(t)
      const { bus } = world
      const heard: BusState[] = []
      const unheard: BusState[] = []
      bus.onState((state) => heard.push(state))
      const stop = bus.onState((state) => unheard.push(state))
      await world.goAway()
      await eventually('the loss', () => heard.includes('disconnected'))
      stop()
      await world.comeBack()
      await eventually('the return', () => heard.includes('connected'))
      await bus.close()
      assert.deepEqual(heard, ['disconnected', 'connected', 'closed'])
      assert.deepEqual(unheard, ['disconnected'])
    })

    it('closes once however often it is asked, and then fails what is published', async (t) => {
      const { bus } = await open(t)
      await Promise.all([bus.close(), bus.close()])
      await bus.close()
      assert.equal(bus.state, 'closed')
      assert.deepEqual(outcomes(await bus.publish([message('order.created', 'late')])), ['failed'])
    })
  })
}
