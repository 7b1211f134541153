import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Clients } from '../../support/clients.ts'
import { eventually } from '../../support/eventually.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../../support/platform.ts'
import type { Chance } from '../../support/random.ts'
import { openEngine, requireIntegrity, type Engine, type EngineName } from './engine.ts'
import type { Trial } from './scenario.ts'

const MAX_LOAD_MS = 300
const MAX_DRAINS = 3
/** The acknowledgements before a kill under load. */
export const LOAD = 3

/** Platforms that are killed and started again on one database. */
export interface StormWorld {
  readonly engine: Engine
  serve(modules?: string): Promise<ServedPlatform>
  /** Runs `kill` in each round. After each round the files of SQLite must pass the integrity check. */
  repeatKills(progress: () => string, kill: (round: number) => Promise<void>): Promise<number>
  /** Starts the platform once more, waits until the query counts 0, and stops it; again if the query counts more then. */
  drain(pendingQuery: string): Promise<void>
}

export async function openStorm(
  trial: Trial,
  engineName: EngineName,
  env: Readonly<Record<string, string>>,
): Promise<StormWorld> {
  const { scope, rounds, wantsMore, signal, show } = trial
  const dataDir = scope.use(temporaryDirectory()).path
  const engine = await openEngine(engineName, dataDir, scope)
  const serve = async (modules = 'all') =>
    scope.use(await servePlatform({ dataDir, modules, env: { ...env, ...engine.env } }))
  return {
    engine,
    serve,
    async repeatKills(progress, kill) {
      let round = 0
      while (wantsMore(round)) {
        round++
        signal.throwIfAborted()
        show(`round ${round} of ${rounds}, ${progress()} acknowledged`)
        await kill(round)
        if (engineName === 'sqlite') requireIntegrity(dataDir, `round ${round}`)
      }
      return round
    },
    async drain(pendingQuery) {
      // A process may write an event while it stops, and PostgreSQL may commit one for a process that is dead.
      for (let run = 0; run === 0 || (await engine.count(pendingQuery)) > 0; run++) {
        assert.ok(run < MAX_DRAINS, 'each process leaves something pending')
        const last = await serve()
        await eventually('nothing is pending', async () => (await engine.count(pendingQuery)) === 0)
        assert.equal(await last.stop(), 0)
      }
    },
  }
}

/** Whether the kill of this round comes under load, as the first and most others do; some come during the first calls. */
export function isUnderLoad(round: number, chance: Chance): boolean {
  return round === 1 || chance.number() < 0.8
}

/** Runs `kill` while the clients call the platform, and stops them. */
export async function killWithClients<T>(
  clients: Clients<T>,
  { round, chance }: { readonly round: number; readonly chance: Chance },
  kill: () => Promise<void>,
): Promise<void> {
  if (isUnderLoad(round, chance)) await eventually('some load', () => clients.acknowledged.size >= LOAD)
  await pause(chance.between(0, MAX_LOAD_MS))
  await kill()
  await clients.stop()
  assert.deepEqual(clients.unexpected, [])
}
