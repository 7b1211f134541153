import { existsSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import type { Config, LoadedConfig } from '../../config/config.ts'
import type { Environment } from '../../config/env.ts'
import { readMirrorState } from '../../domains/users/index.ts'
import { inspectBus } from '../../infra/bus/inspect-bus.ts'
import { systemClock } from '../../kernel/clock.ts'
import { errorMessage } from '../../kernel/errors.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { hasOtherUsers, inspectDatabase } from '../../store/files/inspect-database.ts'
import { readSigningKeys } from '../../store/work/marks.ts'
import type { Store } from '../../store/store.ts'
import { openDatabase } from '../database.ts'
import { openReceivers } from '../receivers.ts'
import { readKnownKeys } from '../signing-keys.ts'
import { commandDomains } from '../commands/command-domains.ts'
import { eventSubjects, type Domains } from '../domains.ts'
import { readActivity } from './activity.ts'
import { fault, type Check, type DoctorParts, type CheckFinding, type LastBackup } from './check.ts'
import { documentPath } from './document-path.ts'
import { FactReader } from './fact-reader.ts'
import { readServiceUnits } from './service-unit.ts'
import { hasUser, readServiceUser } from './service-user.ts'
import { diskCheck } from './checks/disk.ts'
import { accessCheck, filesCheck, configurationCheck } from './checks/host.ts'
import { alertsCheck } from './checks/alerts.ts'
import { backupCheck, databaseCheck, standbyCheck, certificatesCheck } from './checks/data.ts'
import { commandsCheck } from './checks/commands.ts'
import { engineCheck } from './checks/engine.ts'
import { gatewayCheck } from './checks/gateway.ts'
import { receiversCheck } from './checks/notifications.ts'
import { processesCheck } from './checks/processes.ts'
import { serviceCheck } from './checks/service.ts'
import { signInCheck } from './checks/sign-in.ts'
import { paymentsCheck, workerCheck } from './checks/worker.ts'
import { webhooksCheck } from './checks/webhooks.ts'
import { busCheck, clockCheck, portsCheck, tlsCheck } from './checks/network.ts'

/** In the order in which they are shown. */
const CHECKS: readonly Check[] = [
  configurationCheck,
  serviceCheck,
  filesCheck,
  accessCheck,
  portsCheck,
  tlsCheck,
  clockCheck,
  diskCheck,
  databaseCheck,
  processesCheck,
  engineCheck,
  workerCheck,
  paymentsCheck,
  busCheck,
  certificatesCheck,
  receiversCheck,
  alertsCheck,
  webhooksCheck,
  commandsCheck,
  signInCheck,
  gatewayCheck,
  standbyCheck,
  backupCheck,
]

export interface DoctorFinding extends CheckFinding {
  readonly check: string
}

/** Runs every check that a module of the configuration needs; none changes anything, and none keeps another one from running. */
export async function examine(parts: DoctorParts, checks = CHECKS): Promise<DoctorFinding[]> {
  const { modules: own } = parts.loaded.config
  const needed = checks.filter(({ modules }) => modules?.some((module) => own.includes(module)) ?? true)
  const found = await Promise.all(needed.map((check) => findingsOf(check, parts)))
  return found.flat()
}

async function findingsOf(check: Check, parts: DoctorParts): Promise<DoctorFinding[]> {
  const findings = await check.run(parts).catch((error: unknown) => {
    return [
      fault(check.name, 'check_failed', {
        reason: errorMessage(error),
        document: documentPath('docs/guide/operating.md'),
      }),
    ]
  })
  return findings.map((finding) => ({ check: check.name, ...finding }))
}

export function doctorParts(loaded: LoadedConfig, env: Environment): DoctorParts {
  const { bus, dataDir } = loaded.config
  const configFile = loaded.file && resolve(loaded.file)
  const database = once(() => readDatabase(loaded))
  const ownProcesses = () => processesOfHost(database)
  const units = once(() => readServiceUnits(configFile))
  return {
    loaded,
    env,
    clock: systemClock,
    userId: process.getuid?.(),
    units,
    hasUser,
    serviceUser: once(async () =>
      readServiceUser({ units: await units(), dataDir, processIds: await ownProcesses() }),
    ),
    database,
    ownProcesses,
    bus: once(() => inspectBus(bus.server.urls.reveal(), eventSubjects())),
  }
}

/** Those of this host that serve the database. */
async function processesOfHost(database: DoctorParts['database']): Promise<number[]> {
  const facts = await database().catch(() => undefined)
  const processes = facts?.activity.processes ?? []
  return processes.filter(({ host }) => host === hostname()).map(({ processId }) => processId)
}

async function readDatabase({ config }: LoadedConfig): ReturnType<DoctorParts['database']> {
  const { database } = config
  // Throws where this user may not look: what cannot be seen is not gone.
  if (database.kind === 'sqlite' && !statSync(database.path, { throwIfNoEntry: false })) return undefined
  const opened = await openDatabase({ config, readOnly: true, metrics: noMetrics, logger: silentLogger })
  try {
    const found = await inspectDatabase(opened, database, systemClock)
    const usable = { ...config, readOnly: true, ...(hasReceivers(config) ? {} : { receivers: [] }) }
    const { domains } = commandDomains({ config: usable, store: opened })
    const facts = new FactReader(found.schema.pending.length === 0)
    const { seals } = domains.audit
    const channels = config.payments.channels.map(({ name }) => name)
    return {
      ...found,
      certificates: await facts.read(() => domains.certificates.certificates.countByStatus()),
      lostCertificates: await facts.read(() => findLostCertificates(config, domains)),
      mirror: await facts.read(() => readMirrorState(opened.read)),
      hasSigningKey: await facts.read(async () => (await readSigningKeys(opened.read)) !== undefined),
      keys: await facts.read(() => readKnownKeys(opened.read)),
      missingSeal: await facts.read(() => seals.missingSeal().catch(() => undefined)),
      lostAuditKeys: await facts.read(() => seals.lostKeys().catch(() => [])),
      lastBackup: await facts.read(() => readLastBackup(domains)),
      leftFile: await facts.read(() => findLeftFile(config, opened)),
      overdueOrderMs: await facts.read(() => domains.orders.orders.longestOverdueMs()),
      failingChannels: await facts.read(() => domains.payments.payments.health.failingChannels(channels)),
      activity: await readActivity(opened, domains, { clock: systemClock, facts }),
      failure: facts.failure,
    }
  } finally {
    await opened.close()
  }
}

/** The check of the configuration names a file of a receiver that cannot be used. */
function hasReceivers(config: Config): boolean {
  try {
    openReceivers(config)
    return true
  } catch {
    return false
  }
}

const EXAMINED_CERTIFICATES = 1_000

async function findLostCertificates({ dataDir }: Config, domains: Domains): Promise<string[]> {
  const { items } = await domains.certificates.certificates.list({}, { limit: EXAMINED_CERTIFICATES })
  return items
    .filter(({ fingerprintSha256 }) => !existsSync(join(dataDir, 'certs', `${fingerprintSha256}.pem`)))
    .map(({ name }) => name)
}

async function readLastBackup(domains: Domains): Promise<LastBackup> {
  const { backups } = domains['data-backups']
  const last = await backups.newestCompleted()
  const fault = last && (await backups.file(last.id).then(() => undefined, errorMessage))
  return { at: last?.finishedAt ?? undefined, fault }
}

/** After a copy both databases have the same users. */
async function findLeftFile({ database, dataDir }: Config, store: Store): Promise<string | undefined> {
  const path = join(dataDir, 'platform.db')
  if (database.kind === 'sqlite' || !existsSync(path)) return undefined
  return (await hasOtherUsers(path, store)) ? path : undefined
}

function once<T>(call: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => (result ??= call())
}
