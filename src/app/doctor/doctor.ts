import { existsSync } from 'node:fs'
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
import { fault, type Check, type DoctorParts, type CheckFinding } from './check.ts'
import { documentPath } from './document-path.ts'
import { readServiceUser } from './service-user.ts'
import { diskCheck } from './checks/disk.ts'
import { accessCheck, filesCheck, configurationCheck } from './checks/host.ts'
import { alertsCheck } from './checks/alerts.ts'
import { backupCheck, databaseCheck, standbyCheck, certificatesCheck } from './checks/data.ts'
import { commandsCheck } from './checks/commands.ts'
import { engineCheck } from './checks/engine.ts'
import { gatewayCheck } from './checks/gateway.ts'
import { receiversCheck } from './checks/notifications.ts'
import { processesCheck } from './checks/processes.ts'
import { signInCheck } from './checks/sign-in.ts'
import { paymentsCheck, workerCheck } from './checks/worker.ts'
import { webhooksCheck } from './checks/webhooks.ts'
import { busCheck, clockCheck, portsCheck, tlsCheck } from './checks/network.ts'

/** In the order in which they are shown. */
const CHECKS: readonly Check[] = [
  configurationCheck,
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
  return {
    loaded,
    env,
    clock: systemClock,
    userId: process.getuid?.(),
    serviceUser: once(async () => readServiceUser({ configFile, dataDir, processIds: await ownProcesses() })),
    database,
    ownProcesses,
    bus: once(() => inspectBus(bus.server.urls.reveal(), eventSubjects())),
  }
}

/** Those of this host that serve the database. */
async function processesOfHost(database: DoctorParts['database']): Promise<number[]> {
  const facts = await database().catch(() => undefined)
  const processes = facts?.activity?.processes ?? []
  return processes.filter(({ host }) => host === hostname()).map(({ processId }) => processId)
}

async function readDatabase({ config }: LoadedConfig): ReturnType<DoctorParts['database']> {
  const { database } = config
  if (database.kind === 'sqlite' && !existsSync(database.path)) return undefined
  const opened = await openDatabase({ config, readOnly: true, metrics: noMetrics, logger: silentLogger })
  try {
    const facts = await inspectDatabase(opened, database, systemClock)
    const usable = { ...config, readOnly: true, ...(hasReceivers(config) ? {} : { receivers: [] }) }
    const { domains } = commandDomains({ config: usable, store: opened })
    const isCurrent = facts.schema.pending.length === 0
    const certificates = isCurrent ? await domains.certificates.certificates.countByStatus() : []
    const lostCertificates = isCurrent ? await findLostCertificates(config, domains) : []
    const mirror = isCurrent ? await readMirrorState(opened.read) : undefined
    const hasSigningKey = isCurrent && (await readSigningKeys(opened.read)) !== undefined
    const keys = isCurrent ? await readKnownKeys(opened.read) : undefined
    const missingSeal = isCurrent ? await domains.audit.seals.missingSeal().catch(() => undefined) : undefined
    const lostAuditKeys = isCurrent ? await domains.audit.seals.lostKeys().catch(() => []) : []
    const lastBackup = isCurrent ? await domains['data-backups'].backups.newestCompleted() : undefined
    const lastBackupAt = lastBackup?.finishedAt ?? undefined
    const lastBackupFault = lastBackup && (await backupFault(domains, lastBackup.id))
    const leftFile = isCurrent ? await findLeftFile(config, opened) : undefined
    const overdueOrderMs = isCurrent ? await domains.orders.orders.longestOverdueMs() : undefined
    const activity = isCurrent ? await readActivity(opened, domains, systemClock) : undefined
    const names = config.payments.channels.map(({ name }) => name)
    const failingChannels = isCurrent ? await domains.payments.payments.health.failingChannels(names) : []
    const keyMarks = { hasSigningKey, keys, lostAuditKeys, missingSeal }
    const marks = { ...keyMarks, activity, overdueOrderMs, failingChannels, leftFile }
    return { ...facts, certificates, lostCertificates, mirror, ...marks, lastBackupAt, lastBackupFault }
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

async function backupFault(domains: Domains, id: string): Promise<string | undefined> {
  try {
    await domains['data-backups'].backups.file(id)
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
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
