import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import {
  createVpnClient,
  type VpnClient,
  type VpnClientOptions,
  type VpnEvent,
  type VpnState,
} from '../../programs/vpn-client/index.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { eventually } from './eventually.ts'
import {
  startGatewayDouble,
  type DoubleSession,
  type GatewayDouble,
  type GatewayScript,
} from './gateway-double.ts'
import { scopeOf } from './scope.ts'
import { fakeWaitingClock, type FakeWaitingClock } from './waiting-clock.ts'

const PATIENCE = { timeoutMs: 120_000 }

/** A client with scripted gateways and a clock that tests move; random numbers are always the largest. */
export interface VpnWorld {
  readonly clock: FakeWaitingClock
  readonly gateways: readonly GatewayDouble[]
  /** The content of the token file. */
  token: string
  /** How that gateway behaves from now on. */
  script(gateway: number, script: GatewayScript): void
  start(options?: Partial<VpnClientOptions>): VpnClient
  /** What was reported, as `state gateway-number reason`. */
  reported(): string[]
  readonly events: readonly VpnEvent[]
  /** Waits for the next event of that kind after the one that the previous call returned. */
  next(state: VpnState, gateway: number): Promise<VpnEvent>
  /** The live session at that gateway. */
  session(gateway: number): Promise<DoubleSession>
}

export async function vpnWorld(t: TestContext, gatewayCount = 2): Promise<VpnWorld> {
  const scope = scopeOf(t)
  const clock = fakeWaitingClock()
  const gateways: GatewayDouble[] = []
  for (let index = 0; index < gatewayCount; index += 1) gateways.push(scope.use(await startGatewayDouble()))
  const events: VpnEvent[] = []
  const numberOf = (url: string) => gateways.findIndex((each) => each.url === url)
  let read = 0

  const world: VpnWorld = {
    clock,
    gateways,
    token: tokenUntil(1_000),
    events,
    script(gateway, script) {
      const double = gateways[gateway]
      assert.ok(double)
      double.script = script
    },
    start(options = {}) {
      const client = createVpnClient({
        gateways: gateways.map(({ url }) => url),
        readToken: () => new Secret(world.token),
        onState: (event) => events.push(event),
        clock,
        random: () => 1,
        ...options,
      })
      scope.defer(async () => {
        const stopped = client.stop()
        await eventually('the client stops', () => ended, PATIENCE)
        await stopped
      })
      let ended = false
      void client.ended.then(() => (ended = true))
      return client
    },
    reported: () =>
      events.map(({ state, gateway, reason }) =>
        [state, numberOf(gateway), reason].filter((it) => it !== undefined).join(' '),
      ),
    next: (state, gateway) =>
      eventually(
        `gateway ${gateway} is reported as ${state}`,
        () => {
          const index = events.findIndex(
            (event, at) => at >= read && event.state === state && numberOf(event.gateway) === gateway,
          )
          if (index < 0) return undefined
          read = index + 1
          return events[index]
        },
        PATIENCE,
      ),
    session: (gateway) =>
      eventually(
        `a session at gateway ${gateway}`,
        () => gateways[gateway]?.sessions.find(({ closed }) => closed === undefined),
        PATIENCE,
      ),
  }
  return world
}

/** A token that expires at `exp`, in seconds; doubles do not check signatures. */
export function tokenUntil(exp: number, more: object = {}): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return [part({ alg: 'HS256', typ: 'JWT' }), part({ sub: 'ada', exp, ...more }), 'c2lnbmF0dXJl'].join('.')
}

/** Waits for that number of frames of a type from the client, and returns them. */
export async function framesOf(session: DoubleSession, type: string, count = 1) {
  const matching = () => session.frames.filter((frame) => frame['type'] === type)
  await eventually(`${count} ${type} frames`, () => matching().length >= count, PATIENCE)
  assert.equal(matching().length, count)
  return matching()
}
