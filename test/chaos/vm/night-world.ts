import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BackupState } from '../../../programs/backup/night/state.ts'
import { DAY } from '../../../src/kernel/time.ts'
import { buildPlatform } from '../../../scripts/build-platform.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/loopback.ts'
import { DRIVE_CLIENT_ID, DRIVE_CLIENT_SECRET, DRIVE_REFRESH_TOKEN } from '../../support/mock-drive.ts'
import { startMockProgram, type MockProgram } from '../../support/mock-program.ts'
import { PROGRAM, runPlatform, servePlatform, type ServedPlatform } from '../../support/platform.ts'
import type { Trial } from '../support/scenario.ts'
import { Guest } from './guest.ts'
import { diskImageOf, guestImage } from './image.ts'

/** Where the guest finds what listens on this host. */
const HOST_IN_GUEST = '10.0.2.2'
const API_PORT = 9990
const GATEWAY_PORT = 9991
const SECRET = 'a-secret-that-both-servers-of-this-test-have'
const PASSWORD = 'five green boats at dawn'
const USER = 'watchman'

const FIRST_NIGHT = new Date(Date.now() + DAY)

/** A time of the first night of the tests, or of a later one, in UTC, the time zone of the guest: `atNight('01:58')`. */
export function atNight(time: string, nightsLater = 0): string {
  const date = new Date(FIRST_NIGHT.getTime() + nightsLater * DAY).toISOString().slice(0, 10)
  return `${date}T${time}:00Z`
}

/** A state of a VPN client, as `platform vpn connect --json` prints it. */
export interface ClientEvent {
  readonly state: string
  readonly gateway?: string
}

export interface AlertRow {
  readonly id: string
  readonly alarm_id: string | null
  readonly status: string
  readonly severity: string
  readonly body: string
}

/** A server in a guest, with a drive, a standby gateway and a client of both gateways outside. */
export class NightWorld {
  readonly guest: Guest
  readonly standby: ServedPlatform
  readonly clientEvents: ClientEvent[] = []
  readonly #token: string
  readonly #driveFiles: string
  readonly #apiUrl: string

  private constructor(parts: {
    guest: Guest
    standby: ServedPlatform
    token: string
    driveFiles: string
    apiUrl: string
  }) {
    this.guest = parts.guest
    this.standby = parts.standby
    this.#token = parts.token
    this.#driveFiles = parts.driveFiles
    this.#apiUrl = parts.apiUrl
  }

  /** Installs the platform and the routine in a guest whose clock is that of this host. */
  static async start({ scope, show }: Trial): Promise<NightWorld> {
    const directory = mkdtempSync(join(tmpdir(), 'platform-night-'))
    scope.defer(() => rmSync(directory, { recursive: true, force: true }))
    const image = guestImage(show)
    show('builds the release')
    const release = join(directory, 'release')
    await buildPlatform(release)
    const { standby, token, database } = await startStandby(directory, scope)
    // The servers have the same users, so that a client logs in at both with one token.
    cpSync(database, join(release, 'users.db'))
    diskImageOf(release, `${release}.img`)

    const drive = scope.use(await startDrive(directory))
    const [apiPort, gatewayPort] = [await freePort(), await freePort()]
    const guest = scope.use(
      new Guest({
        image,
        directory,
        release: `${release}.img`,
        ports: { [apiPort]: API_PORT, [gatewayPort]: GATEWAY_PORT },
      }),
    )
    const world = new NightWorld({
      guest,
      standby,
      token,
      driveFiles: join(directory, 'drive'),
      apiUrl: `http://127.0.0.1:${apiPort}`,
    })
    show('boots the guest')
    await guest.start(new Date().toISOString())
    show('installs the platform in the guest')
    await install(guest, { driveUrl: drive.url, standbyUrl: standby.gatewayUrl, token })
    await world.untilPlatformAnswers()
    await world.#startClient(scope, directory, `http://127.0.0.1:${gatewayPort}`)
    return world
  }

  /** Sets the clock of the guest, also the one that goes on during a reboot; only ever forwards. */
  async setClock(time: string): Promise<void> {
    await this.guest.script(`timedatectl set-time '${time.slice(0, 19).replace('T', ' ')}'`)
  }

  /** Calls the api of the guest. */
  async call(method: string, path: string): Promise<Response> {
    return fetch(`${this.#apiUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}` },
      // The port answers before the guest does.
      signal: AbortSignal.timeout(CALL_MS),
    })
  }

  async untilPlatformAnswers(): Promise<void> {
    await eventually(
      'the platform of the guest',
      async () => (await this.call('GET', '/health')).ok,
      PATIENCE,
    )
  }

  alerts(): Promise<AlertRow[]> {
    return this.#list<AlertRow>('/alerts?limit=100')
  }

  async alert(alarmId: string): Promise<AlertRow | undefined> {
    return (await this.alerts()).find(({ alarm_id: id }) => id === alarmId)
  }

  /** The weights that an alert has had, the oldest first. */
  async weightsOf(alarmId: string): Promise<number[]> {
    const alert = await this.alert(alarmId)
    assert.ok(alert, `no alert ${alarmId}`)
    const history = await this.#list<{ weight: number }>(`/alerts/${alert.id}/history`)
    return history.map(({ weight }) => weight)
  }

  async ticketLevels(): Promise<string[]> {
    const tickets = await this.#list<{ level: string }>('/tickets')
    return tickets.map(({ level }) => level)
  }

  /** The content of `state.json`, empty before the first run. */
  async state(): Promise<Partial<BackupState>> {
    const { code, stdout } = await this.guest.run('/bin/cat', '/opt/platform/backups/state.json')
    return code === 0 ? (JSON.parse(stdout) as BackupState) : {}
  }

  /** Runs `platform backup …` in the guest. */
  backup(...args: readonly string[]) {
    return this.guest.run(
      '/usr/local/bin/node',
      '/opt/release/platform.cjs',
      'backup',
      ...args,
      '--config',
      CONFIG,
    )
  }

  /** The names of the archives on the drive, as its state has them. */
  archives(): string[] {
    const state = readFileSync(join(this.#driveFiles, 'state.json'), 'utf8')
    return [...new Set(state.match(/backup-\d{8}-\d{6}\.tar\.zst/g))]
  }

  async #list<T>(path: string): Promise<T[]> {
    const { items } = (await (await this.call('GET', path)).json()) as { items: T[] }
    return items
  }

  async #startClient(scope: AsyncDisposableStack, directory: string, gateway: string): Promise<void> {
    const file = join(directory, 'client-token')
    writeFileSync(file, this.#token, { mode: 0o600 })
    const gateways = ['--gateway', gateway, '--gateway', this.standby.gatewayUrl]
    const client = spawn(
      process.execPath,
      [PROGRAM, 'vpn', 'connect', '--json', '--token-file', file, ...gateways],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    scope.defer(() => void client.kill('SIGKILL'))
    createInterface({ input: client.stdout }).on('line', (line) => {
      this.clientEvents.push(JSON.parse(line) as ClientEvent)
    })
    await eventually('the client is connected', () => this.clientEvents.length > 0, PATIENCE)
  }
}

const CALL_MS = 10_000
const PATIENCE = { timeoutMs: 300_000 }
const CONFIG = '/etc/platform/platform.toml'

function startDrive(directory: string): Promise<MockProgram> {
  const cwd = join(directory, 'drive')
  mkdirSync(cwd)
  return startMockProgram('mock-drive', { cwd, env: { MOCK_DRIVE_PORT: '0', MOCK_DRIVE_DIR: cwd } })
}

async function startStandby(directory: string, scope: AsyncDisposableStack) {
  const dataDir = join(directory, 'standby')
  mkdirSync(dataDir)
  const env = { JWT_SECRET: SECRET }
  const run = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, stdout, stderr } = await runPlatform(args, { dataDir, env, input })
    assert.equal(code, 0, stderr)
    return stdout.trim()
  }
  await run(['db', 'migrate'])
  await run(['user', 'add', USER, '--role', 'admin'], `${PASSWORD}\n`)
  const token = await run(['token', 'issue', USER, '--ttl', '30d'])
  // Complete by itself, because no process has it open.
  const database = join(directory, 'users.db')
  cpSync(join(dataDir, 'platform.db'), database)
  const standby = scope.use(await servePlatform({ dataDir, env, modules: 'api,gateway' }))
  return { standby, token, database }
}

/** As an operator does it: a user, a configuration, the secrets, the unit, and `backup install`. */
async function install(
  guest: Guest,
  { driveUrl, standbyUrl, token }: { driveUrl: string; standbyUrl: string; token: string },
): Promise<void> {
  const seenByGuest = (url: string) => url.replace('127.0.0.1', HOST_IN_GUEST)
  // The drive names its own address in its answers, so it has the same one in the guest.
  const drivePort = new URL(driveUrl).port
  const tokens = {
    access_token: 'expired',
    refresh_token: DRIVE_REFRESH_TOKEN,
    expires_in: 1,
    updated_at: '2026-01-01T00:00:00Z',
    drive_id: 'drive-1',
    root_dir: 'servers/night',
  }
  await guest.script(`
    mkdir -p /etc/platform /opt/platform/certs/backend /opt/platform/logs/backend
    cat > ${CONFIG} <<'TOML'
data_dir = "/var/lib/platform"
[api]
listen = "0.0.0.0:${API_PORT}"
[gateway]
listen = "0.0.0.0:${GATEWAY_PORT}"
name = "primary"
[backup]
install_root = "/opt/platform"
time_zone = "UTC"
clean = ["tmp", "page-cache"]
selfcheck_for = "2m"
[backup.drive]
api_url = "${driveUrl}"
[backup.standby]
gateway_url = "${seenByGuest(standbyUrl)}"
token_file = "/etc/platform/standby-token"
TOML
    umask 077
    echo 'JWT_SECRET=${SECRET}' > /etc/platform/platform.env
    echo '${token}' > /etc/platform/standby-token
    printf 'DRIVE_CLIENT_ID=%s\\nDRIVE_CLIENT_SECRET=%s\\n' ${DRIVE_CLIENT_ID} ${DRIVE_CLIENT_SECRET} > /etc/platform/backup.env
    echo '${JSON.stringify(tokens)}' > /opt/platform/certs/backend/drive-token.json
    cat > /etc/systemd/system/platform.service <<'UNIT'
[Unit]
After=network-online.target
Wants=network-online.target
[Service]
Type=exec
ExecStart=/usr/local/bin/node /opt/release/platform.cjs serve --config ${CONFIG}
EnvironmentFile=/etc/platform/platform.env
StateDirectory=platform
Restart=on-failure
RestartSec=2
[Install]
WantedBy=multi-user.target
UNIT
    cat > /etc/systemd/system/drive.socket <<'UNIT'
[Socket]
ListenStream=127.0.0.1:${drivePort}
[Install]
WantedBy=sockets.target
UNIT
    cat > /etc/systemd/system/drive.service <<'UNIT'
[Service]
ExecStart=/lib/systemd/systemd-socket-proxyd ${HOST_IN_GUEST}:${drivePort}
UNIT
    mkdir -p /var/lib/platform
    cp /opt/release/users.db /var/lib/platform/platform.db
    systemctl daemon-reload
    systemctl enable --now drive.socket platform
    node /opt/release/platform.cjs backup install --config ${CONFIG}
    sync
  `)
}
