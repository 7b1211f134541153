import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, type QueryResultRow } from 'pg'
import { eventually } from '../eventually.ts'
import { postgresPrograms } from '../postgres.ts'
import { startOn, type Host } from './network.ts'
import { inSandbox } from './sandbox.ts'

const DEPLOYED = join(import.meta.dirname, '../../../deploy/cluster')
const PATIENCE = { timeoutMs: 300_000 }
const ANSWER_MS = 2_000
const RESTART_MS = 100
const [ETCD, PATRONI] = [2379, 8008]
// PostgreSQL and Patroni refuse to run as root, whom this process seems to be in the sandbox.
const AS_USER = ['unshare', '-U', '--map-user=1000', '--map-group=1000', '--']
// Patroni looks in /proc whether its server runs.
const WITH_OWN_PROCESSES = ['unshare', '-m', 'sh', '-c', 'mount -t proc proc /proc && exec "$@"', 'sh']
const DISK_SIZE = '1g'
// Instead of those that need a directory of the system, passwords, or a disk of a usual size.
const SETTINGS = ["unix_socket_directories: ''", 'max_wal_size: 128MB', 'max_slot_wal_keep_size: 256MB']
const RULES = ['host all all all trust', 'host replication all all trust']
const OWN_LINE = /# this host$|^ETCD_(?:NAME|\w+_URLS)=/

/** One server as the others see it; Patroni's `GET /cluster`. */
interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly timeline?: number
}

/**
 * A PostgreSQL server on each of three hosts under Patroni, and etcd on three others, configured as in deploy/cluster. Patroni
 * decides which server takes changes; every commit waits until another one has it.
 */
export class PostgresTrio {
  readonly #databases: readonly Host[]
  readonly #deciders: readonly Host[]

  constructor(databases: readonly Host[], deciders: readonly Host[]) {
    this.#databases = databases
    this.#deciders = deciders
  }

  /** Address of the database `platform`, with all hosts. */
  get url(): string {
    return `postgres://postgres@${this.#databases.map(({ address }) => address).join(',')}/platform`
  }

  async start(): Promise<void> {
    for (const host of this.#deciders) this.startDecider(host)
    for (const host of this.#databases) {
      mkdirSync(diskOf(host))
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_SIZE}`, 'tmpfs', diskOf(host)])
      this.startServer(host)
    }
    await this.untilFollowed()
    await eventually('the database', () => this.#makeDatabase(), PATIENCE)
  }

  async #makeDatabase(): Promise<boolean> {
    const primary = await this.primary()
    const named = await tryQuery(primary, `select from pg_database where datname = 'platform'`, 'postgres')
    if (named.length === 0) await tryQuery(primary, 'create database platform', 'postgres')
    return true
  }

  /** Starts Patroni on a host, on the data that it has; `env` adds variables. If it fails, it is started again, as its unit does. */
  startServer(host: Host, env: NodeJS.ProcessEnv = {}): void {
    const file = inSandbox(`patroni-${host.name}.yml`)
    writeFileSync(file, this.#configurationOf(host))
    const { child } = startOn(host, 'patroni', [...WITH_OWN_PROCESSES, ...AS_USER, 'patroni', file], env)
    child.once('exit', (code) => {
      // Null after the signal of a fault.
      if (code !== null && code !== 0) setTimeout(() => this.startServer(host, env), RESTART_MS).unref()
    })
  }

  startDecider(host: Host): void {
    const variables = this.#adapt(readDeployed('etcd.env'), host).matchAll(/^(ETCD_\w+)=(.*)$/gm)
    const env = Object.fromEntries([...variables].map(([, name = '', value]) => [name, value]))
    startOn(host, 'etcd', ['etcd'], { ...env, ETCD_DATA_DIR: inSandbox(`etcd-${host.name}`) })
  }

  /** The host whose server takes changes, as Patroni has decided. */
  primary(): Promise<Host> {
    return eventually('a primary of PostgreSQL', () => this.#findMember('leader'), PATIENCE)
  }

  /** The host whose server has every acknowledged commit, besides the primary. */
  standby(): Promise<Host> {
    return eventually('a synchronous standby', () => this.#findMember('sync_standby'), PATIENCE)
  }

  /** The host whose etcd leads the others. */
  decider(): Promise<Host> {
    return eventually('a leader of etcd', () => this.#findDecider(), PATIENCE)
  }

  /** Runs a query on the primary, as soon as it answers. */
  rows(query: string): Promise<QueryResultRow[]> {
    const ask = async () => {
      const primary = await this.#findMember('leader')
      return primary && tryQuery(primary, query, 'platform')
    }
    return eventually('the primary answers', ask, PATIENCE)
  }

  /** Runs a query on every server. Rejects if one does not answer. */
  rowsOfEach(query: string): Promise<QueryResultRow[][]> {
    return Promise.all(this.#databases.map((host) => tryQuery(host, query, 'platform')))
  }

  /** Resolves when two servers follow the primary on its timeline, one of them synchronously. Returns the timeline. */
  async untilFollowed(): Promise<number> {
    const find = async () => {
      const members = await this.#members()
      const leader = members.find(({ role }) => role === 'leader')
      const isTogether = members.every(({ timeline }) => timeline === leader?.timeline)
      const followers = members.filter(({ state }) => state === 'running' || state === 'streaming')
      const isComplete = isTogether && followers.length === this.#databases.length
      return isComplete && members.some(({ role }) => role === 'sync_standby') ? leader?.timeline : undefined
    }
    return eventually('three servers of PostgreSQL on one timeline', find, PATIENCE)
  }

  /** The timelines that a promotion has ended, in the order of their ends. */
  async endedTimelines(): Promise<readonly number[]> {
    const history = await this.#ask<readonly [timeline: number][]>('history')
    return history.map(([timeline]) => timeline)
  }

  /** Leaves the server of a host no room for further files; the returned function makes room. */
  fillDisk(host: Host): () => void {
    const file = join(diskOf(host), 'ballast')
    // Ends when there is no room left.
    spawnSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=16K'])
    return () => rmSync(file)
  }

  #configurationOf(host: Host): string {
    return this.#adapt(readDeployed('patroni.yml'), host)
      .replace(/ data_dir: .*/, ` data_dir: ${join(diskOf(host), 'data')}`)
      .replace(/ bin_dir: .*/, ` bin_dir: ${postgresPrograms()}`)
      .replace(/ pgpass: .*/, ` pgpass: ${inSandbox(`pgpass-${host.name}`)}`)
      .replace(/ unix_socket_directories: .*/, ` ${SETTINGS.join('\n    ')}`)
      .replace(/ &rules\n(?: {4}- .*\n)*/, ` &rules [${RULES.map((rule) => `'${rule}'`).join(', ')}]\n`)
  }

  /** A file of deploy/cluster, which is that of the first host, as the given one has it. */
  #adapt(text: string, host: Host): string {
    const adaptLine = (line: string) =>
      OWN_LINE.test(line)
        ? line.replaceAll('10.0.0.1', host.address).replaceAll('db1', host.name)
        : this.#deciders.reduce(
            (adapted, { name, address }, index) =>
              adapted
                .replaceAll(`10.0.0.${index + 1}:`, `${address}:`)
                .replaceAll(`db${index + 1}=`, `${name}=`),
            line,
          )
    return text.split('\n').map(adaptLine).join('\n')
  }

  async #findMember(wanted: Member['role']): Promise<Host | undefined> {
    const member = (await this.#members()).find(({ role }) => role === wanted)
    return this.#databases.find(({ name }) => name === member?.name)
  }

  async #findDecider(): Promise<Host | undefined> {
    const states = await Promise.all(
      this.#deciders.map(async (host) => {
        const answer = await fetch(`http://${host.address}:${ETCD}/v3/maintenance/status`, {
          method: 'POST',
          body: '{}',
          signal: AbortSignal.timeout(ANSWER_MS),
        }).catch(() => undefined)
        return (await answer?.json()) as EtcdStatus | undefined
      }),
    )
    const index = states.findIndex((each) => each !== undefined && each.leader === each.header.member_id)
    return this.#deciders[index]
  }

  async #members(): Promise<readonly Member[]> {
    return (await this.#ask<{ readonly members: readonly Member[] }>('cluster')).members
  }

  /** What the first Patroni answers that reaches etcd. */
  #ask<T>(path: 'cluster' | 'history'): Promise<T> {
    const answers = this.#databases.map(async ({ address }) => {
      const signal = AbortSignal.timeout(ANSWER_MS)
      const answer = await fetch(`http://${address}:${PATRONI}/${path}`, { signal })
      if (!answer.ok) throw new Error(`Patroni on ${address}: ${answer.status}`)
      return (await answer.json()) as T
    })
    return Promise.any(answers)
  }
}

/** The answer of etcd to `POST /v3/maintenance/status`. */
interface EtcdStatus {
  readonly leader: string
  readonly header: { readonly member_id: string }
}

async function tryQuery(host: Host, statement: string, database: string): Promise<QueryResultRow[]> {
  const limits = { connectionTimeoutMillis: ANSWER_MS, query_timeout: 10 * ANSWER_MS }
  const client = new Client({ host: host.address, user: 'postgres', database, ...limits })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<QueryResultRow>(statement)).rows
  } finally {
    // One that is frozen or cut off would not answer the end of the connection.
    client.connection.stream.destroy()
  }
}

function readDeployed(name: string): string {
  return readFileSync(join(DEPLOYED, name), 'utf8')
}

function diskOf({ name }: Host): string {
  return inSandbox(`postgres-${name}`)
}
