import { fileURLToPath } from 'node:url'
import { freePort } from '../test/support/loopback.ts'
import type { Bench } from './support/bench.ts'
import { requireSuccess } from './support/load-contestants.ts'
import { startLoadGenerator, type LoadGenerator } from './support/load-generator.ts'
import { SEQUENCE, type LoadTarget, type Slice } from './support/load.ts'
import { figures, ratio, type Measure } from './support/measure.ts'
import { CONNECTIONS } from './support/order-load.ts'
import { apiSettings } from './support/platform-server.ts'
import { interleave, type Contestant, type Round } from './support/rounds.ts'
import { diskDirectory, startServer } from './support/servers.ts'

const SERVER = fileURLToPath(new URL('./servers/audited-api.ts', import.meta.url))
const KINDS = ['audited', 'bare'] as const

/** What the row of the audit trail costs a change. */
export const audit: Bench = {
  name: 'audit',
  title: 'P23: audit',
  summary: 'changes of tickets with the row of the audit trail and without',

  async run(options) {
    await using stack = new AsyncDisposableStack()
    const generator = stack.use(startLoadGenerator())
    const contestants: Contestant[] = []
    for (const kind of KINDS) {
      const port = await startApi(stack, kind)
      const changes = changesAt(port, await createTicket(port))
      contestants.push(
        ...contestantsOf(generator, kind, '', changes, 1),
        ...contestantsOf(generator, kind, ' under load', changes, CONNECTIONS),
      )
    }
    return measuresOf(await interleave(contestants, options))
  },
}

function contestantsOf(
  generator: LoadGenerator,
  kind: (typeof KINDS)[number],
  how: string,
  changes: Readonly<Record<string, Omit<LoadTarget, 'connections'>>>,
  connections: number,
): Contestant[] {
  return Object.entries(changes).map(([change, target]) => {
    const name = `${change}${how}, ${kind}`
    return {
      name,
      run: async (forMs) => requireSuccess(name, await generator.apply({ ...target, connections }, forMs)),
    }
  })
}

async function startApi(stack: AsyncDisposableStack, kind: (typeof KINDS)[number]): Promise<number> {
  const { path: cwd } = stack.use(diskDirectory())
  const port = await freePort()
  const command = [process.execPath, SERVER, kind]
  stack.use(await startServer({ command, port, cwd, env: apiSettings(cwd, port) }))
  return port
}

const JSON_BODY = { 'content-type': 'application/json' }
const NEW_TICKET = { title: 'The shop does not answer', level: 'high' }

async function createTicket(port: number): Promise<string> {
  const request = { method: 'POST', headers: JSON_BODY, body: JSON.stringify(NEW_TICKET) }
  const answer = await fetch(`http://127.0.0.1:${port}/tickets`, request)
  return ((await answer.json()) as { id: string }).id
}

/** A change that makes an object, and one of a known object, which is read before and after. */
function changesAt(port: number, id: string): Record<'created' | 'edited', Omit<LoadTarget, 'connections'>> {
  const target = { port, headers: JSON_BODY }
  return {
    created: { ...target, method: 'POST', path: '/tickets', body: JSON.stringify(NEW_TICKET) },
    edited: {
      ...target,
      method: 'PUT',
      path: `/tickets/${id}`,
      body: JSON.stringify({ title: `The shop does not answer ${SEQUENCE}` }),
    },
  }
}

// docs/performance.md, P23: the audit trail
const MUST = { must: { atMost: 1.05 } }

function measuresOf(rounds: readonly Round[]): Measure[] {
  const time = ({ p50 }: Slice) => p50
  // Of the server for one change, while it has as many as it can take.
  const work = ({ rate }: Slice) => 1 / rate
  const withRow = (change: string, figure: (slice: Slice) => number) =>
    ratio(rounds, `${change}, audited`, `${change}, bare`, figure)
  return [
    { what: 'creation of a ticket with its row ÷ without, p50', values: withRow('created', time), ...MUST },
    { what: 'change of a ticket with its row ÷ without, p50', values: withRow('edited', time), ...MUST },
    {
      what: 'creation of a ticket with its row, p50',
      unit: 'ms',
      values: figures(rounds, 'created, audited', time),
    },
    {
      what: 'work of a creation with its row ÷ without, 64 connections',
      values: withRow('created under load', work),
    },
    {
      what: 'work of a change with its row ÷ without, 64 connections',
      values: withRow('edited under load', work),
    },
  ]
}
