import { createHmac } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { settingsWithSecrets, type Config, type LoadedConfig } from '../config/config.ts'
import type { ModuleName } from '../config/value-types.ts'
import type { AuditKeys } from '../domains/audit/index.ts'
import type { Bus } from '../kernel/bus.ts'
import { systemClock } from '../kernel/clock.ts'
import { errorMessage } from '../kernel/errors.ts'
import type { Job } from '../kernel/job.ts'
import type { Logger } from '../kernel/logger.ts'
import { openBase, type Base } from './base.ts'
import { explainRefusal } from './database.ts'
import { auditFiles } from './domains.ts'
import { startJobs, type JobRunner } from './jobs.ts'
import type { ModuleContext, OpenModule } from './modules/module.ts'
import { receiverCodes } from './receivers.ts'
import { createServingRecord, type ServingRecord } from '../store/work/marks.ts'
import { VERSION } from './version.ts'

interface PlatformOptions extends Pick<ModuleContext, 'onFirstAdmin'> {
  readonly config: Config
  /** The settings in effect, for people. */
  readonly settings: LoadedConfig['settings']
  /** The absolute path of the configuration file. */
  readonly configFile?: LoadedConfig['file']
  readonly logger: Logger
  /** The environment of the process. */
  readonly env?: ModuleContext['env']
}

export interface Platform {
  /** The URL of each listener by its module. */
  readonly addresses: ModuleContext['addresses']
  readonly bus: Pick<Bus, 'state' | 'problem'>
  /** Stops accepting requests, finishes those in progress, closes everything; may be called twice. */
  stop(): Promise<void>
}

/** The code of each module; only that of the configured modules is loaded. */
const MODULES: Readonly<Record<ModuleName, () => Promise<OpenModule>>> = {
  api: async () => (await import('./modules/api.ts')).openApi,
  gateway: async () => (await import('./modules/gateway.ts')).openGateway,
  worker: async () => (await import('./modules/module.ts')).openWorker,
}

/** Opens what the configured modules need, and starts them. If one fails, closes everything and rejects. */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  try {
    return await openPlatform(options)
  } catch (error) {
    const { config, configFile } = options
    throw explainRefusal({ ...config, configFile }, error)
  }
}

async function openPlatform({
  config,
  settings,
  configFile,
  logger,
  env = {},
  onFirstAdmin,
}: PlatformOptions): Promise<Platform> {
  await using resources = new AsyncDisposableStack()
  const base = await openBase({ config, settings, configFile, logger }, resources)
  warnOfFewFiles(logger)
  const context: ModuleContext = { ...base, env, resources, onFirstAdmin, addresses: {}, localApi: {} }
  // Modules may share a job; it runs once.
  const jobs = new Set<Job>()
  let runner: JobRunner | undefined = undefined
  // Deferred before the listeners, so that the listeners close first.
  resources.defer(() => runner?.stop())
  for (const module of config.modules) {
    const open = await MODULES[module]()
    for (const job of await open(context)) jobs.add(job)
  }
  if (!config.readOnly) {
    // After all modules have started: a start that fails must not print a password.
    if (config.modules.includes('api')) await createFirstAdmin(context)
    await recordStart(base)
    await warnOfLostAuditKeys(base)
    const { metrics, isDatabaseOut } = base
    const serving = openServingRecord(base)
    resources.defer(() => serving.remove().catch(() => undefined))
    runner = startJobs([...jobs, ...base.jobs, serving.job], {
      clock: systemClock,
      logger,
      metrics,
      isDatabaseOut,
    })
  }
  base.lifecycle.run()
  const started = resources.move()
  return {
    addresses: context.addresses,
    bus: base.bus,
    stop() {
      base.lifecycle.drain()
      runner?.abort()
      return started.disposeAsync()
    },
  }
}

/** Which settings differ from those of the last start of the same process; a code of each value tells. */
async function recordStart({ config, settings, domains, logger }: Base): Promise<void> {
  try {
    const keyOf = ({ id, bytes }: AuditKeys[0]) => ({
      id,
      hash: (value: string) => createHmac('sha256', bytes).update(value).digest('base64url'),
    })
    const [newest, ...older] = auditFiles(config).readOrCreateKeys()
    const keys = [keyOf(newest), ...older.map(keyOf)] as const
    const process = `${hostname()} ${config.modules.join(',')}`
    await domains.audit.service.recordSettings(process, settingsWithSecrets({ config, settings }), keys)
  } catch (error) {
    // A gateway may have no directory to keep the key in.
    logger.warn({ reason: errorMessage(error) }, 'the settings could not be recorded in the audit trail')
  }
}

/** For `platform doctor` and `platform alerts test`, which compare it with their own configuration. */
function openServingRecord({ config, keys, store }: Base): ServingRecord {
  return createServingRecord(store, systemClock, {
    host: hostname(),
    processId: process.pid,
    version: VERSION,
    modules: config.modules,
    startedAt: systemClock.now(),
    dataDir: config.dataDir,
    bus: config.bus.server.text,
    receivers: receiverCodes(config, keys),
  })
}

function warnOfFewFiles(logger: Logger): void {
  const notice = openFilesNotice()
  if (notice !== undefined) logger.warn({}, notice)
}

/** What a lost key has sealed cannot be verified any more; the worker seals with another one. */
async function warnOfLostAuditKeys({ config, domains, logger }: Base): Promise<void> {
  if (!config.modules.includes('worker')) return
  const lost = await domains.audit.seals.lostKeys()
  if (lost.length === 0) return
  logger.warn(
    { file: join(config.dataDir, 'audit-key'), keys: lost },
    'the file does not have all keys of the audit trail: what those have sealed cannot be verified; append the lines of your copy',
  )
}

async function createFirstAdmin({ domains, onFirstAdmin }: ModuleContext): Promise<void> {
  const admin = await domains.users.service.ensureFirstAdmin()
  if (admin) onFirstAdmin(admin)
}

// Each connection needs an open file, and so does each file of the database and each thread that reads it.
const FEWEST = 1_024

/** What to say of a process that may open few files; Node.js ends the connections beyond them without a word. */
export function openFilesNotice(limits = readLimits()): string | undefined {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  if (soft === undefined || Number(soft) >= FEWEST) return undefined
  return `this process may open ${soft} files, and ends the connections beyond them: allow it ${FEWEST} or more (LimitNOFILE= of the unit, ulimit -n)`
}

/** Empty where there is no such file, as on systems other than Linux. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
