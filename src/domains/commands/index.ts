import type { Clock } from '../../kernel/clock.ts'
import type { BuiltInCommand, ProgramCommand } from '../../kernel/command.ts'
import { countJob, runBatches, type Job } from '../../kernel/job.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { RotatedKeys } from '../../kernel/secret.ts'
import { DAY, HOUR, SECOND } from '../../kernel/time.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { Catalogue } from './catalogue.ts'
import type { CommandDeps } from './deps.ts'
import { CommandJournal } from './journal.ts'
import { COMMAND_ALERTS, COMMAND_EVENTS, type ExecutionStatus } from './model.ts'
import { OutputStreams } from './output-stream.ts'
import { COMMAND_ERRORS, commandRoutes } from './routes.ts'
import { encodeCommandEvent, ExecutionSchema, PolicyChangeSchema } from './schemas.ts'
import { SecretBox } from './secret-box.ts'
import { Commands } from './service.ts'
import { StartRules } from './start-rules.ts'
import { names } from './tables.ts'
import { CommandUpkeep } from './upkeep.ts'
import { CommandWorker } from './worker.ts'

export type { ExecutionView } from './model.ts'
export { interruptUnfinished, listUnfinished, type UnfinishedExecution } from './store.ts'
export type { CommandAccount } from './policy.ts'

/** What the domain is created with. */
interface CommandsDomainDeps extends CommandDeps {
  readonly programCommands: readonly ProgramCommand[]
  readonly builtInCommands: readonly BuiltInCommand[]
  /** From which the key of secret parameters is derived; read when the first one is. */
  readonly signingKeys: () => RotatedKeys
}

/** Commands that people run by the API instead of on the machine (docs/specification.md, Commands). */
export const commandsDomain = defineDomain({
  name: 'commands',
  tables: names,
  events: COMMAND_EVENTS,
  // The policy limits which executions other roles may read.
  eventSchemas: { [COMMAND_EVENTS.policyChanged]: PolicyChangeSchema, 'command.*': ExecutionSchema },
  eventReaders: ['admin', 'auditor'],
  errors: COMMAND_ERRORS,
  alerts: COMMAND_ALERTS,
  encodeEvent: encodeCommandEvent,
  create: (deps: CommandsDomainDeps) => {
    const journal = new CommandJournal(deps)
    const parts = {
      ...deps,
      catalogue: new Catalogue([...deps.builtInCommands, ...deps.programCommands]),
      journal,
      rules: new StartRules(deps, journal),
      secrets: new SecretBox(deps.signingKeys),
    }
    const worker = new CommandWorker(parts)
    const commands = new Commands(parts, () => worker.wake())
    const outputs = new OutputStreams(deps, commands)
    const upkeep = new CommandUpkeep(parts)
    const endJob = commandEndJob(upkeep)
    return {
      service: commands,
      routes: commandRoutes(commands, outputs),
      jobs: {
        api: [endJob, commandCountJob(upkeep, deps.metrics)],
        worker: [endJob, commandLeftoverJob(upkeep), commandPruneJob(upkeep, deps.clock)],
      },
      runners: { worker: [worker] },
    } satisfies DomainParts
  },
})

const END_EVERY_MS = 2 * SECOND
const LEFTOVERS_EVERY_MS = 10 * SECOND
const BATCH = 50
const PRUNE_BATCH = 100
// docs/specification.md, Commands
const KEEP_MS = 90 * DAY

/** Ends requests without a decision, executions that no worker begins, and runs of dead workers. It starts no process, so the api runs it too. */
function commandEndJob(upkeep: CommandUpkeep): Job {
  return {
    name: 'command-end',
    everyMs: END_EVERY_MS,
    async run(signal) {
      await upkeep.endAbandoned()
      await runBatches(signal, async () => (await upkeep.endExpired(BATCH)) === BATCH)
      await runBatches(signal, async () => (await upkeep.endOverdue(BATCH)) === BATCH)
    },
  }
}

/** Kills processes of executions that are over: those of a worker that has died on this host. */
function commandLeftoverJob(upkeep: CommandUpkeep): Job {
  return { name: 'command-leftovers', everyMs: LEFTOVERS_EVERY_MS, run: () => upkeep.killLeftovers() }
}

/** Removes old executions with their output. */
function commandPruneJob(upkeep: CommandUpkeep, clock: Clock): Job {
  return {
    name: 'command-prune',
    everyMs: HOUR,
    run: (signal) =>
      runBatches(
        signal,
        async () => (await upkeep.prune(clock.now() - KEEP_MS, PRUNE_BATCH)) === PRUNE_BATCH,
      ),
  }
}

const UNFINISHED: readonly ExecutionStatus[] = ['awaiting_approval', 'queued', 'running']

/** Updates the gauge of unfinished executions. */
function commandCountJob(upkeep: CommandUpkeep, metrics: Metrics): Job {
  return countJob(metrics, {
    name: 'command-count',
    gauge: {
      name: 'command_executions',
      help: 'Executions of commands that are not finished, by status, counted every 30 s.',
    },
    label: 'status',
    values: UNFINISHED,
    count: async () =>
      (await upkeep.countUnfinished()).map(({ status, executions }) => [status, executions] as const),
  })
}
