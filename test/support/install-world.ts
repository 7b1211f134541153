import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fakeClock } from './clock.ts'
import {
  TargetRoot,
  type InstallDeps,
  type InstalledProgram,
  type InstallReport,
  type InstallSettings,
} from '../../programs/backup/install/index.ts'

const TOKEN_FILE = '/opt/platform/certs/backend/drive-token.json'
const SECRETS_FILE = '/etc/platform/backup.env'
const UNITS = '/etc/systemd/system'

const TOKENS = {
  access_token: 'canary-access',
  refresh_token: 'canary-refresh',
  expires_in: 7_200,
  updated_at: '2026-01-31T02:00:00.000Z',
  drive_id: 'drive-1',
  root_dir: 'servers/main',
}

/** The settings of a server as the guide sets it up. */
export const INSTALL_SETTINGS: InstallSettings = {
  installRoot: '/opt/platform',
  dataDir: '/var/lib/platform',
  databaseFile: '/var/lib/platform/platform.db',
  staging: '/opt/platform/backups/staging',
  hasDrive: true,
  tokenFile: TOKEN_FILE,
  secretsFile: SECRETS_FILE,
  textfile: undefined,
  tmpDir: '/tmp',
  mediaGlobs: [],
  clean: ['packages', 'journal', 'tmp', 'media', 'containers', 'page-cache'],
  timeZone: 'Europe/Berlin',
  window: { start: '02:00', end: '06:00', retryEveryMs: 1_800_000 },
  selfcheckForMs: 600_000,
}

export const INSTALLED_PROGRAM: InstalledProgram = {
  command: ['/usr/bin/node', '/opt/platform/bin/platform.mjs'],
  configFile: '/etc/platform/platform.toml',
  workingDirectory: '/root',
}

export interface InstallWorld extends Disposable {
  /** The directory that stands for `/`. */
  readonly directory: string
  readonly root: TargetRoot
  readonly deps: InstallDeps
  /** The calls of `systemctl`, without its name. */
  readonly systemctl: readonly string[]
  /** How often the heartbeats were made. */
  readonly registrations: () => number
  path(name: string): string
  unit(name: string): string
  read(name: string): string
  write(name: string, text: string, mode?: number): void
}

interface InstallWorldOptions {
  readonly host?: boolean
  readonly settings?: Partial<InstallSettings>
}

/** A directory with a token file and secrets; `host` makes it stand for the file system of this host. */
export function installWorld({ host = false, settings = {} }: InstallWorldOptions = {}): InstallWorld {
  const directory = mkdtempSync(join(tmpdir(), 'install-'))
  const systemctl: string[] = []
  let registrations = 0
  const world: InstallWorld = {
    directory,
    root: new TargetRoot(directory, host),
    systemctl,
    registrations: () => registrations,
    deps: {
      settings: { ...INSTALL_SETTINGS, ...settings },
      program: INSTALLED_PROGRAM,
      clock: fakeClock(Date.UTC(2026, 0, 31, 12)),
      shellVariables: [],
      shell: {
        run: async ([, ...args]) => {
          systemctl.push(args.join(' '))
          return { status: 'succeeded' }
        },
      },
      otherServers: [],
      registerHeartbeats: async () => void registrations++,
      platformProblem: async () => undefined,
    },
    path: (name) => join(directory, name),
    unit: (name) => join(directory, UNITS, name),
    read: (name) => readFileSync(join(directory, name), 'utf8'),
    write(name, text, mode = 0o644) {
      const path = join(directory, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
      chmodSync(path, mode)
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  }
  world.write(TOKEN_FILE, JSON.stringify(TOKENS), 0o600)
  if (host) world.write('/usr/share/zoneinfo/Europe/Berlin', '')
  world.write(SECRETS_FILE, 'DRIVE_CLIENT_ID=app\nDRIVE_CLIENT_SECRET=canary-secret\n', 0o600)
  return world
}

/** The files of a report by their results, below `directory`. */
export function byResult({ entries }: InstallReport, directory: string): Record<string, string[]> {
  const groups = Map.groupBy(entries, ({ result }) => result)
  return Object.fromEntries(
    [...groups].map(([result, group]) => [result, group.map(({ path }) => path.replace(directory, ''))]),
  )
}
