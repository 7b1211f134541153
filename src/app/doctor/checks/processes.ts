import { statSync, type Stats } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Config } from '../../../config/config.ts'
import type { UnfinishedExecution } from '../../../domains/commands/index.ts'
import { MINUTE, toRfc3339 } from '../../../kernel/time.ts'
import type { ServingProcess } from '../../../store/work/marks.ts'
import {
  fine,
  firstFindings,
  skipped,
  warning,
  type Check,
  type CheckFinding,
  type DoctorParts,
} from '../check.ts'
import { EXAMINED_EXECUTIONS } from '../database-state.ts'
import type { FindingCode } from '../findings.ts'
import { mayAccess, type ServiceUser } from '../service.ts'
import { findRecordedListener } from './network.ts'

/** Which processes serve this database, and whether they belong together. */
export const processesCheck: Check = {
  name: 'processes',
  run: async ({ loaded: { config }, knownState }) => {
    const { processes } = await knownState()
    if (!processes) return [skipped('of this database', 'needs the database')]
    if (processes.length > 0)
      return [...processes.map(processFinding), ...versions(processes), ...differences(config, processes)]
    const other = await otherDatabase(config)
    return [other ?? skipped('of this database', 'none runs, or only read-only ones')]
  },
}

/**
 * The finding where no process serves the configured database, and a platform on this host serves another one: a password that
 * a command sets in the configured database would not be that of the platform that people use.
 */
export async function otherDatabase(config: Config): Promise<CheckFinding | undefined> {
  const other = await findRecordedListener(config)
  if (!other) return undefined
  return warning('of this database', 'process_of_other_database', { listener: other.setting })
}

function processFinding(process: ServingProcess): CheckFinding {
  const { host, processId, modules, version, bus, dataDir, startedAt } = process
  const facts = [
    version,
    modules.join(', '),
    `bus ${bus}`,
    `data_dir ${dataDir}`,
    `since ${toRfc3339(startedAt)}`,
  ]
  return fine(`${host}, process ${processId}`, facts.join('; '))
}

/** An upgrade ends when the last process was restarted: an older one does not do what is new. */
function versions(processes: readonly ServingProcess[]): CheckFinding[] {
  const found = valuesOf(processes, ({ version }) => version)
  return found.length > 1 ? [warning('version', 'releases_differ', { versions: found.join(' and ') })] : []
}

/** Two installations on one database take each other's requests, and an event goes to the bus of the one that delivers it. */
function differences({ bus }: Config, processes: readonly ServingProcess[]): CheckFinding[] {
  const own = bus.server.text
  const buses = valuesOf(processes, (process) => serversOf(process.bus))
  const [first = ''] = buses
  const directories = [...Map.groupBy(processes, ({ host }) => host)].flatMap(([host, ofHost]) => {
    const found = valuesOf(ofHost, ({ dataDir }) => dataDir)
    return found.length > 1
      ? [warning('data_dir', 'data_dirs_differ', { host, directories: found.join(' and ') })]
      : []
  })
  if (buses.length > 1)
    return [warning('bus', 'buses_differ', { buses: buses.join(' and ') }), ...directories]
  return first === serversOf(own)
    ? directories
    : [warning('bus', 'bus_of_others', { bus: first, own }), ...directories]
}

function valuesOf(processes: readonly ServingProcess[], read: (process: ServingProcess) => string): string[] {
  return [...new Set(processes.map(read))].toSorted()
}

/** The order of the servers does not matter. */
function serversOf(bus: string): string {
  return bus.split(',').toSorted().join(',')
}

// deploy/prometheus: the alarm "orders do not expire".
const LATE_ORDER_MS = MINUTE

/** Whether a worker runs: without one no order expires, no notification is sent and no backup is made. */
export const workerCheck: Check = {
  name: 'worker',
  modules: ['api', 'worker'],
  run: async ({ knownState }) => {
    const { overdueOrderMs, processes = [] } = await knownState()
    // A worker that hangs is listed as serving for three more minutes.
    if (processes.length > 0 && !processes.some(({ modules }) => modules.includes('worker')))
      return [warning('processes', 'worker_missing')]
    if (overdueOrderMs === undefined) return [skipped('orders', 'needs the database')]
    if (overdueOrderMs <= LATE_ORDER_MS) return [fine('orders', 'none waits to expire')]
    const minutes = Math.floor(overdueOrderMs / MINUTE)
    return [warning('orders', 'orders_overdue', { minutes })]
  },
}

/** Whether a provider opens payments at all. */
export const paymentsCheck: Check = {
  name: 'payments',
  modules: ['api', 'worker'],
  run: async ({ loaded, knownState }) => {
    const { channels } = loaded.config.payments
    if (channels.length === 0) return [skipped('channels', 'none is configured')]
    const { failingChannels } = await knownState()
    if (failingChannels === undefined) return [skipped('channels', 'needs the database')]
    return channels.map(({ name }) =>
      failingChannels.includes(name)
        ? warning(name, 'payments_failing')
        : fine(name, 'its last payments do not all fail'),
    )
  },
}

// The timeout of a built-in command.
const BUILT_IN_TIMEOUT_MS = 10 * MINUTE
// The processes of a command get 10 s to end, and the worker looks every few seconds.
const LATE_EXECUTION_MS = MINUTE
const EXECUTE = 1
const ANYBODY_EXECUTES = 0o111

/** Whether the programs of commands can be started, and whether commands run that should have ended, or wait that should run. */
export const commandsCheck: Check = {
  name: 'commands',
  modules: ['api', 'worker'],
  run: async (parts) => [...(await programFaults(parts)), ...(await executionFindings(parts))],
}

/** Only a worker starts programs. */
async function programFaults({ loaded, serviceUser }: DoctorParts): Promise<CheckFinding[]> {
  const { commands, modules } = loaded.config
  if (!modules.includes('worker') || commands.programs.length === 0) return []
  const user = await serviceUser()
  return commands.programs.flatMap(({ id, run }) => {
    const program = run[0] ?? ''
    const path = commands.environment['PATH'] ?? ''
    const code = startFault(program, path, user)
    return code === undefined ? [] : [warning(`commands.${id}.run`, code, { program, path })]
  })
}

/** Why the program cannot be started; undefined if it can. */
function startFault(program: string, path: string, user: ServiceUser | undefined): FindingCode | undefined {
  const places = program.includes('/')
    ? [program]
    : path.split(delimiter).map((directory) => join(directory, program))
  const files = places.flatMap((place) => statSync(place, { throwIfNoEntry: false }) ?? [])
  if (files.length === 0) return program.includes('/') ? 'program_missing' : 'program_not_in_path'
  const canStart = files.some((stats) => stats.isFile() && isExecutable(stats, user))
  return canStart ? undefined : 'program_not_executable'
}

/** Root executes a file that anybody may execute. */
function isExecutable(stats: Stats, user: ServiceUser | undefined): boolean {
  if ((stats.mode & ANYBODY_EXECUTES) === 0) return false
  return user === undefined || mayAccess(user, stats, EXECUTE)
}

async function executionFindings(parts: DoctorParts): Promise<readonly CheckFinding[]> {
  const { executions } = await parts.knownState()
  if (!executions) return [skipped('executions', 'needs the database')]
  if (executions.length === 0) return [fine('executions', 'none runs or waits')]
  const findings = executions.map((execution) => executionFinding(execution, parts))
  const others = executions.length < EXAMINED_EXECUTIONS ? 'that wait' : 'at least that wait'
  return firstFindings(findings, 'executions', `${others}: GET /commands/executions?status=queued`)
}

function executionFinding(
  { id, commandId, status, host, queuedAt, startedAt }: UnfinishedExecution,
  { loaded, clock }: DoctorParts,
): CheckFinding {
  const subject = `${commandId} ${id}`
  const now = clock.now()
  if (status !== 'running') {
    const since = toRfc3339(queuedAt)
    return now - queuedAt > LATE_EXECUTION_MS
      ? warning(subject, 'execution_waits', { since })
      : fine(subject, `is queued since ${since}`)
  }
  const program = loaded.config.commands.programs.find((command) => command.id === commandId)
  const timeoutMs = program?.timeoutMs ?? BUILT_IN_TIMEOUT_MS
  const since = startedAt ?? queuedAt
  const values = { host: host ?? 'an unknown host', since: toRfc3339(since), minutes: timeoutMs / MINUTE }
  if (now - since <= timeoutMs + LATE_EXECUTION_MS)
    return fine(subject, `runs on ${values.host} since ${values.since}; its timeout is ${values.minutes} min`)
  return warning(subject, 'execution_late', { ...values, execution: id })
}
