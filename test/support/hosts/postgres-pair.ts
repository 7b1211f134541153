import { execFileSync } from 'node:child_process'
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client, type QueryResultRow } from 'pg'
import { eventually } from '../eventually.ts'
import { postgresPrograms } from '../postgres.ts'
import { startOn, type Host } from './network.ts'
import { inSandbox, systemPath } from './sandbox.ts'

const PATIENCE = { timeoutMs: 300_000 }
// PostgreSQL refuses to run as root, whom this process seems to be in the sandbox.
const AS_USER = ['unshare', '-U', '--map-user=1000', '--map-group=1000', '--']
const SETTINGS = `
listen_addresses = '*'
unix_socket_directories = ''
wal_log_hints = on
max_connections = 200
wal_sender_timeout = 3s
wal_receiver_timeout = 3s
wal_retrieve_retry_interval = 500ms
tcp_keepalives_idle = 2
tcp_keepalives_interval = 1
tcp_keepalives_count = 3
`

/** A PostgreSQL server on each of two hosts: one writes, and every commit waits until the other one has it. */
export class PostgresPair {
  readonly #hosts: readonly [Host, Host]
  #primary: Host

  constructor(hosts: readonly [Host, Host]) {
    this.#hosts = hosts
    this.#primary = hosts[0]
  }

  get primary(): Host {
    return this.#primary
  }

  get standby(): Host {
    return this.#hosts[0] === this.#primary ? this.#hosts[1] : this.#hosts[0]
  }

  /** Address of the database `platform`, with both hosts. */
  get url(): string {
    return `postgres://pg@${this.#hosts.map(({ address }) => address).join(',')}/platform`
  }

  async start(): Promise<void> {
    const [first] = this.#hosts
    const data = dataOf(first)
    asUser([
      'initdb',
      '-D',
      data,
      '-U',
      'pg',
      '-A',
      'trust',
      '-N',
      '--no-instructions',
      '-E',
      'UTF8',
      '--locale=C',
    ])
    appendFileSync(join(data, 'postgresql.conf'), SETTINGS)
    appendFileSync(join(data, 'pg_hba.conf'), 'host all all all trust\nhost replication all all trust\n')
    this.startServer(first)
    await ask(first, 'create database platform', 'postgres')
    await this.addStandby()
  }

  /** Starts the server of a host on the data that it has. */
  startServer(host: Host): void {
    startOn(host, 'postgres', [...AS_USER, postgresProgram('postgres'), '-D', dataOf(host)])
  }

  /** Gives the other host a copy of the primary; from then on every commit waits for it. */
  async addStandby(): Promise<void> {
    const { primary, standby } = this
    const slot = `slot_${standby.name}`
    await ask(
      primary,
      `select pg_drop_replication_slot(slot_name) from pg_replication_slots where not active`,
    )
    rmSync(dataOf(standby), { recursive: true, force: true })
    const from = `host=${primary.address} user=pg application_name=${standby.name} connect_timeout=2`
    const copy = [
      'pg_basebackup',
      '-D',
      dataOf(standby),
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '-C',
      '-S',
      slot,
      '-d',
      from,
    ]
    asUser(copy)
    this.startServer(standby)
    await ask(primary, `alter system set synchronous_standby_names = 'FIRST 1 (${standby.name})'`)
    await ask(primary, 'select pg_reload_conf()')
    const isSynchronous = async () =>
      (await ask(primary, `select 1 from pg_stat_replication where sync_state = 'sync'`)).length === 1
    await eventually('the standby to follow', isSynchronous, PATIENCE)
  }

  /** Runs a query on the primary, as soon as it answers. */
  rows(query: string): Promise<QueryResultRow[]> {
    return ask(this.primary, query, 'platform')
  }

  /** From now on no commit waits for the standby. */
  async removeStandby(): Promise<void> {
    await ask(this.primary, 'alter system reset synchronous_standby_names')
    await ask(this.primary, 'select pg_reload_conf()')
  }

  /** Makes the standby the primary, which then waits for no other. */
  async promote(): Promise<void> {
    const { standby } = this
    // It has a copy of this setting, and its first commit would wait for itself.
    await ask(standby, `alter system reset synchronous_standby_names`)
    await ask(standby, 'select pg_reload_conf()')
    await ask(standby, 'select pg_promote(true, 60)')
    this.#primary = standby
  }
}

/** Runs a statement as soon as the server answers; returns its rows. */
function ask(host: Host, statement: string, database = 'postgres'): Promise<QueryResultRow[]> {
  const run = async () => {
    const client = new Client({ host: host.address, user: 'pg', database, connectionTimeoutMillis: 2_000 })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return (await client.query<QueryResultRow>(statement)).rows
    } finally {
      await client.end()
    }
  }
  return eventually(`PostgreSQL on ${host.name}`, run, PATIENCE)
}

function dataOf({ name }: Host): string {
  return inSandbox(`postgres-${name}`)
}

function postgresProgram(name: string): string {
  return join(postgresPrograms(), name)
}

function asUser([name = '', ...args]: readonly string[]): void {
  const [command = '', ...rest] = [...AS_USER, postgresProgram(name), ...args]
  execFileSync(command, rest, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: systemPath() } })
}
