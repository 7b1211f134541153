import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NIGHT_ALERTS, NIGHT_WEIGHTS } from '../../programs/backup/alerts/events.ts'
import { readIndex } from '../../programs/backup/drive/index-entries.ts'
import type { Drive } from '../../programs/backup/drive/port.ts'
import { TokenFile } from '../../programs/backup/drive/token-file.ts'
import type {
  CleanedStep,
  NightDeps,
  NightReporter,
  NoJournal,
  NightSettings,
} from '../../programs/backup/night/deps.ts'
import { Night, type NightOptions } from '../../programs/backup/night/night.ts'
import { FileStateStore } from '../../programs/backup/night/state-file.ts'
import type { BackupState } from '../../programs/backup/night/state.ts'
import { unpackPackage } from '../../programs/backup/package/read-package.ts'
import type { MockEnvironment } from '../../programs/mock-server/variables.ts'
import type { WaitingClock } from '../../src/kernel/clock.ts'
import { fakeClock } from './clock.ts'
import { driveWorld, readAll, type DriveWorld } from './drive-world.ts'
import { recordingLogger, type LoggedLine } from './night-alerts.ts'

/** 02:00 in Berlin, where the night of these tests is. */
const NIGHT_START = Date.UTC(2026, 0, 31, 1)

export interface NightFaults {
  /** Thrown by the call of the database of that name. */
  databases?: Partial<Record<'databaseBytes' | 'snapshot' | 'inspect', Error>>
  /** Called before each call of the drive; may throw. With `ignored` the drive confirms the call and does nothing. */
  drive?: (method: string) => 'ignored' | void
  openDrive?: Error
  journal?: Error | NoJournal
  cleaning?: Error
  /** What holds the reboot back. */
  gate?: string
  reboot?: string
}

export interface NightWorld extends AsyncDisposable {
  readonly directory: string
  readonly drives: DriveWorld
  readonly clock: WaitingClock & ReturnType<typeof fakeClock>
  /** `backup.failed ERROR 4 upload_failed`, in order; the tickets and beats between them. */
  readonly alerts: string[]
  readonly lines: LoggedLine[]
  readonly calls: string[]
  faults: NightFaults
  /** Each call is made by a process of its own. */
  night(options?: Partial<NightOptions>, settings?: Partial<NightSettings>, signal?: AbortSignal): Night
  state(): BackupState
  setState(state: BackupState): void
  /** The names of all files in the folder of a month on the drive. */
  remote(month?: string): Promise<string[]>
  /** The backups that the index of the month names. */
  index(month?: string): Promise<Record<string, unknown>[]>
  /** Downloads a backup that the index names, compares its SHA-256, and unpacks it. */
  restore(backupId: string): Promise<string>
  staging(): string[]
}

/** `drives`: those of another world, whose folder this server uses, too. */
export async function nightWorld(
  env: MockEnvironment = {},
  shared?: Pick<NightWorld, 'drives'>,
): Promise<NightWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'night-'))
  const drives = shared?.drives ?? (await driveWorld(env))
  const fake = fakeClock(NIGHT_START)
  const clock = {
    ...fake,
    async wait(milliseconds: number, signal?: AbortSignal) {
      if (!signal?.aborted) fake.advance(milliseconds)
    },
  }
  const settings = settingsIn(directory)
  makeServer(settings)
  const statePath = join(directory, 'state.json')
  const lines: LoggedLine[] = []
  const alerts: string[] = []
  const calls: string[] = []
  const store = new FileStateStore(statePath, {
    clock,
    onUnusable: (message) => recordingLogger(lines).error({}, message),
  })
  const world: NightWorld = {
    directory,
    drives,
    clock,
    alerts,
    lines,
    calls,
    faults: {},
    night: (options = {}, more = {}, signal) =>
      new Night(
        {
          settings: { ...settings, ...more },
          clock,
          logger: recordingLogger(lines),
          state: store,
          databases: fakeDatabases(world),
          openDrive() {
            if (world.faults.openDrive) throw world.faults.openDrive
            const rootDirectory = new TokenFile(drives.tokenPath).read().rootDir
            return { drive: faultyDrive(drives.open(), world), rootDirectory }
          },
          alerts: recordedAlerts(alerts),
          host: fakeHost(world),
          progress: () => undefined,
          signal,
        },
        { mayReboot: true, ...options },
      ),
    state: () => store.read(),
    setState: (state) => store.write(state),
    remote: (month) => remoteNames(drives, month),
    index: (month) => remoteIndex(drives, month),
    restore: (backupId) => restoredDatabase(drives, directory, backupId),
    staging: () => (existsSync(settings.staging) ? readdirSync(settings.staging) : []),
    async [Symbol.asyncDispose]() {
      if (!shared) await drives[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true })
    },
  }
  return world
}

/** Creates what a server has before its first night. */
export function makeServer({ staging, logs }: NightSettings): void {
  mkdirSync(staging, { recursive: true })
  mkdirSync(logs[0] ?? '')
  writeFileSync(join(logs[0] ?? '', 'access.log'), 'GET /health\n')
}

export function settingsIn(directory: string): NightSettings {
  return {
    timeZone: 'Europe/Berlin',
    windowStart: '02:00',
    windowEnd: '06:00',
    retryEveryMs: 1_800_000,
    server: 'primary',
    hostName: 'server-1',
    madeBy: `server-1:${directory}`,
    sourcePath: '/var/lib/platform/platform.db',
    certificates: join(directory, 'certs'),
    logs: [join(directory, 'logs')],
    optionalLogs: [],
    staging: join(directory, 'staging'),
    compression: 'zstd',
    recipients: [],
    remoteKeep: { daily: 7, weekly: 4, monthly: 12 },
    reboot: true,
  }
}

export const DATABASE_CONTENT = 'a row of the database\n'.repeat(2_000)

export function fakeDatabases(world: Pick<NightWorld, 'calls' | 'faults'>): NightDeps['databases'] {
  const failIf = (name: 'databaseBytes' | 'snapshot' | 'inspect') => {
    world.calls.push(name)
    const error = world.faults.databases?.[name]
    if (error) throw error
  }
  return {
    packagedAs: 'database/platform.db',
    async databaseBytes() {
      failIf('databaseBytes')
      return DATABASE_CONTENT.length
    },
    async snapshot(target) {
      failIf('snapshot')
      writeFileSync(target, DATABASE_CONTENT)
      return {
        size: DATABASE_CONTENT.length,
        sha256: createHash('sha256').update(DATABASE_CONTENT).digest('hex'),
      }
    },
    async inspect() {
      failIf('inspect')
      return { schemaVersion: '0026', tables: { orders: { rows: 1, hash: 'abc' } } }
    },
  }
}

const STEPS: readonly CleanedStep[] = [{ step: 'tmp', freedBytes: 7, text: 'tmp: freed 7 bytes' }]

function fakeHost(world: NightWorld): NightDeps['host'] {
  const { calls } = world
  return {
    cleaningSteps: ['tmp'],
    async clean() {
      calls.push('clean')
      return { steps: STEPS, failure: world.faults.cleaning }
    },
    async closedGate() {
      calls.push('gates')
      const { gate } = world.faults
      return gate === undefined ? undefined : { gate, reason: 'it is closed' }
    },
    async reboot() {
      calls.push('reboot')
      return world.faults.reboot
    },
    async exportJournal(target) {
      const { journal } = world.faults
      if (journal instanceof Error) throw journal
      if (journal) return journal
      writeFileSync(target, '__CURSOR=1\n')
      return undefined
    },
  }
}

/** Every call of the drive may fail before it is made. */
function faultyDrive(drive: Drive, world: NightWorld): Drive {
  return new Proxy(drive, {
    get(target, name) {
      const method = Reflect.get(target, name, target) as unknown
      if (typeof method !== 'function') return method
      return (...args: unknown[]): unknown => {
        world.calls.push(String(name))
        const call = () => {
          if (world.faults.drive?.(String(name)) === 'ignored') return undefined
          return Reflect.apply(method, target, args) as unknown
        }
        return name === 'close' || name === 'download' ? call() : Promise.resolve().then(call)
      }
    },
  })
}

export function recordedAlerts(alerts: { push(line: string): unknown }): NightReporter {
  return {
    async report(event, { error_code: code }, details = []) {
      const { alarmId, level } = NIGHT_ALERTS[event]
      const shown = level === 'ERROR' || level === 'HIGH' || level === 'CRITICAL' ? code : undefined
      const line = `${alarmId} ${level} ${NIGHT_WEIGHTS[level]}`
      const detail = ['reboot_blocked', 'backup_succeeded'].includes(event) ? details[0] : undefined
      alerts.push([line, shown, detail].filter(Boolean).join(' '))
    },
    async openTicket({ level, dedup_key: key }) {
      alerts.push(`ticket ${level} ${key}`)
    },
    async beat(name) {
      alerts.push(`beat ${name}`)
    },
    async deliver() {},
  }
}

function remoteFolder({ open }: DriveWorld, month: string): Promise<string | undefined> {
  return open().findFolder(`servers/main/backup/${month}`)
}

/** The names of all files in the folder of a month on the drive. */
export async function remoteNames(drives: DriveWorld, month = '202601'): Promise<string[]> {
  const folderId = await remoteFolder(drives, month)
  if (folderId === undefined) return []
  return (await drives.open().list(folderId)).map(({ name }) => name).toSorted()
}

async function remoteIndex(drives: DriveWorld, month = '202601'): Promise<Record<string, unknown>[]> {
  const folderId = await remoteFolder(drives, month)
  const index = folderId === undefined ? undefined : await readIndex(drives.open(), folderId)
  return (index?.entries ?? []).map((entry) => ({ ...entry }))
}

/** Downloads a backup that the index names, compares its SHA-256, and unpacks it: the text of its database. */
export async function restoredDatabase(
  drives: DriveWorld,
  directory: string,
  backupId: string,
): Promise<string> {
  const month = backupId.slice(0, 6)
  const entry = (await remoteIndex(drives, month)).find((each) => each['backup_id'] === backupId)
  if (!entry) throw new Error(`the index does not name ${backupId}`)
  const drive = drives.open()
  const files = await drive.list((await remoteFolder(drives, month)) ?? '')
  const file = files.find(({ name }) => name === entry['file'])
  if (!file) throw new Error(`the drive does not have ${String(entry['file'])}`)
  const bytes = await readAll(drive.download(file))
  if (createHash('sha256').update(bytes).digest('hex') !== entry['sha256'])
    throw new Error(`${file.name} has another SHA-256 than its index names`)
  const into = mkdtempSync(join(directory, 'restored-'))
  writeFileSync(join(directory, 'archive'), bytes)
  await unpackPackage({ file: join(directory, 'archive'), directory: into, identities: [] })
  return readFileSync(join(into, 'database/platform.db'), 'utf8')
}
