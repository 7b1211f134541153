import { fileURLToPath } from 'node:url'
import type { Bench } from './support/bench.ts'
import { createMemoryProbe } from './support/collected.ts'
import { applyFlows } from './support/flow-load.ts'
import { rateOf } from './support/load-contestants.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { installPeer } from './support/peers.ts'
import { interleave, type Contestant, type Round, type RoundOptions } from './support/rounds.ts'
import { freePort } from '../test/support/loopback.ts'
import { diskDirectory, startServer } from './support/servers.ts'
import { spreadOf } from './support/statistics.ts'

const BARE = fileURLToPath(new URL('./servers/bare-flow.ts', import.meta.url))
const PEER = fileURLToPath(new URL('./servers/oauth2-mock-server.ts', import.meta.url))
const PROGRAM = fileURLToPath(new URL('../bin/platform.ts', import.meta.url))
const PEER_PACKAGE = 'oauth2-mock-server@9.3.0'
const CONNECTIONS = 64

/** Complete flows, compared with a bare server and the most used mock on npm; memory after many flows. */
export const mockOidc: Bench = {
  name: 'mock-oidc',
  title: 'P8: whole flows of the mock identity provider',
  summary: 'authorize, token with PKCE, userinfo, against a bare server and oauth2-mock-server',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const { path: cwd } = stack.use(diskDirectory())
    const bare = await freePort()
    stack.use(await startServer({ command: [process.execPath, BARE, String(bare)], port: bare, cwd }))
    const peer = await freePort()
    options.onSlice('installing oauth2-mock-server')
    const directory = await installPeer([PEER_PACKAGE])
    stack.use(
      await startServer({ command: [process.execPath, PEER, String(peer), directory], port: peer, cwd }),
    )
    const mock = await startMock(cwd)
    stack.use(mock)
    const rounds = await interleave(
      [
        contestant('bare', bare, 'profile'),
        contestant('peer', peer, 'profile'),
        contestant('mock', mock.port, 'profile'),
        contestant('peer-openid', peer, 'openid'),
        contestant('mock-openid', mock.port, 'openid'),
      ],
      options,
    )
    return [...measuresOf(rounds), ...(await memoryMeasures(cwd, options))]
  },
}

async function startMock(cwd: string, more: Readonly<Record<string, string>> = {}) {
  const port = await freePort()
  const { pid, ...server } = await startServer({
    command: [process.execPath, PROGRAM, 'mock-oidc'],
    port,
    cwd,
    env: { MOCK_PORT: String(port), MOCK_ISSUER: `http://127.0.0.1:${port}`, ...more },
  })
  return { ...server, pid, port }
}

function contestant(name: string, port: number, scope: string): Contestant {
  return { name, run: (forMs) => applyFlows({ port, connections: CONNECTIONS, scope }, { forMs }) }
}

const SAMPLES = 20
const FLOWS_PER_SAMPLE = 5_000

/**
 * In a new process, after a garbage collection each time: without it the figure depends on when the last one was. The
 * provider's memory is full after 10,000 flows: the first samples are ignored.
 */
async function memoryMeasures(cwd: string, { signal, onSlice }: RoundOptions): Promise<Measure[]> {
  const probe = await createMemoryProbe()
  await using mock = await startMock(cwd, probe.env)
  const target = { port: mock.port, connections: CONNECTIONS, scope: 'profile' }
  const megabytes = async () => (await probe.residentKibibytes(mock.pid)) / 1_024
  const samples = [await megabytes()]
  for (let sample = 1; sample <= SAMPLES; sample++) {
    signal.throwIfAborted()
    onSlice(`memory: after ${sample * FLOWS_PER_SAMPLE} flows`)
    await applyFlows(target, { flows: FLOWS_PER_SAMPLE })
    samples.push(await megabytes())
  }
  const [early, late] = [samples.slice(4, 12), samples.slice(13)]
  const growth = Math.min(...late) / Math.min(...early)
  return [
    {
      what: 'lowest memory, flows 65,000 to 100,000 ÷ 20,000 to 55,000',
      values: spreadOf([growth]),
      must: { atMost: 1.15 },
    },
    { what: 'memory at the start', unit: 'MB', values: spreadOf(samples.slice(0, 1)) },
    { what: 'memory, flows 65,000 to 100,000', unit: 'MB', values: spreadOf(late) },
  ]
}

// docs/performance.md, P8: the mock identity provider
const TO_BARE = { must: { atLeast: 0.6 }, better: { atLeast: 0.8 } }
const TO_PEER = { must: { atLeast: 5 } }

function measuresOf(rounds: readonly Round[]): Measure[] {
  const rate = (what: string, name: string) => ({
    what,
    unit: 'flows/s',
    values: figures(rounds, name, rateOf),
  })
  return [
    { what: 'flows, mock ÷ bare', values: ratio(rounds, 'mock', 'bare', rateOf), ...TO_BARE },
    { what: 'flows, mock ÷ oauth2-mock-server', values: ratio(rounds, 'mock', 'peer', rateOf), ...TO_PEER },
    {
      what: 'flows with id_token, mock ÷ oauth2-mock-server',
      values: ratio(rounds, 'mock-openid', 'peer-openid', rateOf),
    },
    rate('bare', 'bare'),
    rate('oauth2-mock-server', 'peer'),
    rate('mock', 'mock'),
    rate('mock with id_token', 'mock-openid'),
    {
      what: 'load generator, share of a core at bare',
      values: figures(rounds, 'bare', ({ generatorBusy }) => generatorBusy),
    },
  ]
}
