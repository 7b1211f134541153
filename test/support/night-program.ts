// A process that makes one call of the nightly routine, and kills itself at one of its points: before or after a request
// to the drive, a change of the state, an alert, or a call of the database or the host. Prints its points and its outcome.
import { appendFileSync } from 'node:fs'
import { subscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { openRemoteDrive } from '../../programs/backup/drive/remote-drive.ts'
import { TokenFile } from '../../programs/backup/drive/token-file.ts'
import type { NightHost } from '../../programs/backup/night/deps.ts'
import { Night } from '../../programs/backup/night/night.ts'
import { FileStateStore, type StateStore } from '../../programs/backup/night/state-file.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/logger.ts'
import { Secret } from '../../src/kernel/secret.ts'
import { fakeDatabases, recordedAlerts, settingsIn } from './night-world.ts'
import { DRIVE_CLIENT_ID, DRIVE_CLIENT_SECRET } from './mock-drive.ts'

export interface NightTask {
  readonly call: 'runScheduled' | 'retryOnce'
  readonly directory: string
  readonly driveUrl: string
  readonly tokenPath: string
  /** The wall clock at the start of the process. */
  readonly now: number
  /** The number of the point, from 1. */
  readonly killAt?: number
}

export interface NightAnswer {
  readonly outcome: string
  readonly errorCode?: string | undefined
  readonly points: readonly string[]
}

async function makeCall({ call, directory, driveUrl, tokenPath, now, killAt }: NightTask): Promise<void> {
  const points: string[] = []
  const point = (name: string) => {
    if (points.push(name) === killAt) process.kill(process.pid, 'SIGKILL')
  }
  subscribe('http.client.request.start', (message) => point(`before ${pathOf(message)}`))
  subscribe('http.client.response.finish', (message) => point(`after ${pathOf(message)}`))
  // Without the time that the process needs to start, which is long on a busy machine.
  const begun = performance.now()
  const clock = { ...systemClock, now: () => now + Math.round(performance.now() - begun) }
  const settings = { ...settingsIn(directory), reboot: true }
  const store = new FileStateStore(join(directory, 'state.json'), { clock, onUnusable: () => undefined })
  const alerts = recordedAlerts({ push: (line) => appendFileSync(join(directory, 'alerts'), `${line}\n`) })
  const tokenFile = new TokenFile(tokenPath)
  const night = new Night(
    {
      settings,
      clock,
      logger: silentLogger,
      state: withPoints<StateStore>('state', store, point),
      databases: withPoints('database', fakeDatabases({ calls: [], faults: {} }), point),
      openDrive: () => ({
        drive: openRemoteDrive({
          apiUrl: driveUrl,
          apiPrefix: '/adrive/v1.0',
          secrets: { clientId: DRIVE_CLIENT_ID, clientSecret: new Secret(DRIVE_CLIENT_SECRET) },
          tokenFile,
          partSize: 400,
          clock,
        }),
        rootDirectory: tokenFile.read().rootDir,
      }),
      alerts: withPoints('alert', alerts, point),
      host: withPoints('host', host, point),
      progress: () => undefined,
    },
    { mayReboot: true },
  )
  const { outcome, errorCode } = await night[call]()
  process.stdout.write(JSON.stringify({ outcome, errorCode, points } satisfies NightAnswer))
}

/** Requests and answers have the path of the request. */
function pathOf(message: unknown): string {
  const { request } = message as { request: { path: string } }
  return request.path.split('?')[0]?.replace(/.*\//, '').slice(0, 20) ?? ''
}

const host: NightHost = {
  cleaningSteps: ['tmp'],
  clean: async () => ({ steps: [], failure: undefined }),
  closedGate: async () => undefined,
  reboot: async () => undefined,
  exportJournal: async () => ({ reason: 'no journal', isLost: false }),
}

/** The same object with a point before and after each call. */
function withPoints<T extends object>(kind: string, target: T, point: (name: string) => void): T {
  return new Proxy(target, {
    get(_, name) {
      const method = Reflect.get(target, name, target) as unknown
      if (typeof method !== 'function') return method
      if (name === 'read' || name === 'deliver') return method.bind(target) as unknown
      return (...args: unknown[]): unknown => {
        const label = `${kind} ${String(name)}`
        point(`before ${label}`)
        const result = Reflect.apply(method, target, args) as unknown
        if (!(result instanceof Promise)) {
          point(`after ${label}`)
          return result
        }
        return result.then((value: unknown) => {
          point(`after ${label}`)
          return value
        })
      }
    },
  })
}

const task = JSON.parse(process.argv[2] ?? 'null') as NightTask | null
if (task) await makeCall(task)
