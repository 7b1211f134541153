import { Catalogue } from '../../src/domains/commands/catalogue.ts'
import type { CommandDeps, CommandEventData } from '../../src/domains/commands/deps.ts'
import type { CommandParts } from '../../src/domains/commands/parts.ts'
import { CommandJournal } from '../../src/domains/commands/journal.ts'
import type { CommandAccount } from '../../src/domains/commands/policy.ts'
import { SecretBox } from '../../src/domains/commands/secret-box.ts'
import { Commands } from '../../src/domains/commands/service.ts'
import { StartRules } from '../../src/domains/commands/start-rules.ts'
import { CommandUpkeep } from '../../src/domains/commands/upkeep.ts'
import { CommandWorker } from '../../src/domains/commands/worker.ts'
import {
  builtInCommand,
  type BuiltInCall,
  type Containment,
  type ProgramCommand,
} from '../../src/kernel/command.ts'
import type { WaitingClock } from '../../src/kernel/clock.ts'
import type { Identity, Role } from '../../src/kernel/identity.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { HOUR, MINUTE } from '../../src/kernel/time.ts'
import type { Notice } from '../../src/ports/notification-channel.ts'
import type { Program, ProgramEnd, Programs } from '../../src/ports/programs.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import { domainParts } from './domain-world.ts'
import { inTransactions, testStore } from './store.ts'
import { fakeWaitingClock, type FakeWaitingClock } from './waiting-clock.ts'

/** A program that a test plays: it ends at a call of the test, and by SIGTERM unless it ignores that. */
export interface PlayedProgram extends Program {
  readonly host: string
  end(end: ProgramEnd): void
}

/** Records the programs that it is asked to run. */
class PlayedPrograms implements Programs {
  readonly host: string
  readonly started: PlayedProgram[]
  readonly killed: string[] = []
  leftovers: string[] = []
  containedBy: Containment = 'pid_namespace'

  constructor(host: string, started: PlayedProgram[]) {
    this.host = host
    this.started = started
  }

  containment() {
    return Promise.resolve(this.containedBy)
  }

  run(program: Program): Promise<ProgramEnd> {
    const { promise, resolve } = Promise.withResolvers<ProgramEnd>()
    this.started.push({ ...program, host: this.host, end: resolve })
    const endAt = (signal: AbortSignal, name: 'SIGTERM' | 'SIGKILL') => {
      const end = () => resolve({ exitCode: null, signal: name })
      if (signal.aborted) end()
      else signal.addEventListener('abort', end)
    }
    endAt(program.kill, 'SIGKILL')
    if (!program.run.includes('stubborn')) endAt(program.terminate, 'SIGTERM')
    return promise
  }

  executionsWithProcesses() {
    return this.leftovers
  }

  async killProcessesOf(executionId: string) {
    this.killed.push(executionId)
  }
}

const COMMAND = {
  title: 'A command',
  description: '',
  params: {},
  approval: 'none',
  timeoutMs: MINUTE,
  maxConcurrent: 1,
} as const

const PROGRAMS: readonly ProgramCommand[] = [
  {
    ...COMMAND,
    id: 'restart',
    run: ['systemctl', 'restart', '{unit}'],
    params: { unit: { type: 'string', default: 'nginx' } },
  },
  { ...COMMAND, id: 'parallel', run: ['sleep', '1'], maxConcurrent: 3 },
  { ...COMMAND, id: 'stubborn', run: ['sleep', 'stubborn'] },
  { ...COMMAND, id: 'decided', run: ['true'], approval: 'two_person' },
  {
    ...COMMAND,
    id: 'secretive',
    run: ['login'],
    params: { key: { type: 'string', isSecret: true } },
    approval: 'two_person',
  },
]

export function caller(id: string, ...roles: Role[]): Identity {
  return { id, name: id, roles, via: 'headers' }
}

export const ADMIN = caller('ann', 'admin')
export const DEVOPS = caller('dev', 'devops')

export interface ToldNotice extends Notice {
  readonly receivers: readonly string[]
}

/** The command framework on an empty database, with programs that the test plays. */
export async function commandWorld(dialect: DialectName, clock: FakeWaitingClock = fakeWaitingClock()) {
  const { store, [Symbol.asyncDispose]: dispose } = await testStore(dialect, clock)
  const { record, deps } = domainParts<CommandEventData>(store, clock)
  const calls: BuiltInCall[] = []
  const started: PlayedProgram[] = []
  const accounts = new Map<string, CommandAccount>()
  const notices: ToldNotice[] = []
  const parts = sharedParts({ ...deps, clock }, { calls, started, accounts, notices })
  const workers: CommandWorker[] = []
  const service = new Commands(parts, () => workers.forEach((worker) => worker.wake()))
  return {
    store,
    clock,
    ...record,
    notices,
    calls,
    started,
    accounts,
    service,
    commands: inTransactions(store, service, 'request', 'decide', 'cancel', 'setPolicy'),
    /** A worker on a host of its own, which has started. */
    startWorker(host = 'one') {
      const programs = new PlayedPrograms(host, started)
      const worker = new CommandWorker({ ...parts, host, programs })
      const upkeep = new CommandUpkeep({ ...parts, programs })
      workers.push(worker)
      worker.start()
      return { worker, upkeep, programs }
    },
    upkeep: new CommandUpkeep(parts),
    /** The upkeep of a process with another clock than the workers. */
    upkeepBy: (other: WaitingClock) => new CommandUpkeep({ ...parts, clock: other }),
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((worker) => worker.stop()))
      await dispose()
    },
  }
}

function sharedParts(
  platform: ReturnType<typeof domainParts<CommandEventData>>['deps'] & { readonly clock: WaitingClock },
  {
    calls,
    started,
    accounts,
    notices,
  }: {
    calls: BuiltInCall[]
    started: PlayedProgram[]
    accounts: ReadonlyMap<string, CommandAccount>
    notices: ToldNotice[]
  },
): CommandParts {
  const builtIn = builtInCommand({
    id: 'test.count',
    title: 'Count',
    description: '',
    params: { to: { type: 'integer', default: 3 } },
    async run(call) {
      calls.push(call)
      call.print(`Counted to ${call.params['to']}.`)
      if (call.params['to'] === 0) throw new Error('There is nothing to count.')
    },
  })
  const deps = {
    findAccount: async (id: string) => accounts.get(id),
    approvalTtlMs: HOUR,
    startWithinMs: HOUR,
    programs: new PlayedPrograms('api', started),
    environment: { PATH: '/bin' },
    host: 'api',
    approvalReceivers: ['approvers'],
    consoleUrl: 'https://shop.example.org',
    notices: {
      tell: async (tx, receivers, notice) => tx.afterCommit(() => notices.push({ receivers, ...notice })),
    },
    ...platform,
  } satisfies CommandDeps
  const journal = new CommandJournal(deps)
  return {
    ...deps,
    rules: new StartRules(deps, journal),
    catalogue: new Catalogue([...PROGRAMS, builtIn]),
    journal,
    secrets: new SecretBox(() => [new Secret('the key of the platform')]),
  }
}
