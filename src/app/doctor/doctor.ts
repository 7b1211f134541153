import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { LoadedConfig } from '../../config/config.ts'
import type { Environment } from '../../config/env.ts'
import { inspectBus } from '../../infra/bus/inspect-bus.ts'
import { systemClock } from '../../kernel/clock.ts'
import { errorMessage } from '../../kernel/errors.ts'
import { eventSubjects } from '../domains.ts'
import { fault, type Check, type CheckFinding, type DoctorParts } from './check.ts'
import { readDatabaseState } from './database-state.ts'
import { hasUser, readServiceUnits, readServiceUser } from './service.ts'
import { backupCheck, certificatesCheck, databaseCheck } from './checks/data.ts'
import { diskCheck } from './checks/disk.ts'
import { engineCheck } from './checks/engine.ts'
import { configurationCheck, filesCheck } from './checks/host.ts'
import { gatewayCheck, signInCheck, standbyCheck } from './checks/identity.ts'
import { busCheck, clockCheck, portsCheck, tlsCheck } from './checks/network.ts'
import { alertsCheck, receiversCheck, webhooksCheck } from './checks/notifications.ts'
import { commandsCheck, paymentsCheck, processesCheck, workerCheck } from './checks/processes.ts'
import { accessCheck, serviceCheck } from './checks/service.ts'

/** All checks, in the order of the report. */
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
  const findings = await Promise.all(needed.map((check) => findingsOf(check, parts)))
  return findings.flat()
}

async function findingsOf(check: Check, parts: DoctorParts): Promise<DoctorFinding[]> {
  const findings = await check
    .run(parts)
    .catch((error: unknown) => [fault(check.name, 'check_failed', { reason: errorMessage(error) })])
  return findings.map((finding) => ({ check: check.name, ...finding }))
}

export function doctorParts(loaded: LoadedConfig, env: Environment): DoctorParts {
  const { bus, dataDir } = loaded.config
  const configFile = loaded.file && resolve(loaded.file)
  const database = once(() => readDatabaseState(loaded.config))
  const knownState = () =>
    database().then(
      (state) => state ?? {},
      () => ({}),
    )
  const ownProcesses = () => processesOfHost(knownState)
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
    knownState,
    ownProcesses,
    bus: once(() => inspectBus(bus.server.urls.reveal(), eventSubjects())),
  }
}

/** The processes of this host that serve the database. */
async function processesOfHost(knownState: DoctorParts['knownState']): Promise<number[]> {
  const { processes = [] } = await knownState()
  return processes.filter(({ host }) => host === hostname()).map(({ processId }) => processId)
}

function once<T>(call: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => (result ??= call())
}
