// The files of deploy/cluster: that they fit each other, and that the programs accept them.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { loadConfig } from '../../src/config/config.ts'
import { parsePostgresUrl } from '../../src/kernel/addresses.ts'
import { systemPath } from '../support/hosts/sandbox.ts'
import { temporaryDirectory } from '../support/platform.ts'
import { postgresPrograms } from '../support/postgres.ts'

const DIRECTORY = join(import.meta.dirname, '../../deploy/cluster')
const HOSTS = ['10.0.0.1', '10.0.0.2', '10.0.0.3']

const textOf = (name: string) => readFileSync(join(DIRECTORY, name), 'utf8')

/** The hosts that a text names with that port, in the order of their first mention. */
function hostsWithPort(text: string, port: number): string[] {
  const found = [...text.matchAll(/(10\.0\.0\.\d+):(\d+)/g)].filter(([, , each]) => Number(each) === port)
  return [...new Set(found.map(([, host = '']) => host))]
}

function run(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, PATH: systemPath() },
  })
  assert.equal(status, 0, `${command}: ${error?.message ?? ''}\n${stdout}${stderr}`)
  return stdout + stderr
}

test('every file names the same three hosts', () => {
  const { config } = loadConfig({ env: {}, cwd: '/', configPath: join(DIRECTORY, 'platform.toml') })
  assert.ok(config.database.kind === 'postgres')
  const urls = parsePostgresUrl(config.database.url.reveal())?.urls ?? []
  assert.deepEqual(
    urls.map((url) => new URL(url).hostname),
    HOSTS,
  )
  assert.deepEqual(hostsWithPort(config.bus.server.urls.reveal().join(','), 4222), HOSTS)
  assert.equal(config.bus.replicas, HOSTS.length)
  assert.deepEqual(hostsWithPort(textOf('patroni.yml'), 2379), HOSTS)
  assert.deepEqual(hostsWithPort(textOf('etcd.env'), 2380), HOSTS)
  assert.deepEqual(hostsWithPort(textOf('nats.conf'), 6222), HOSTS)
  for (const port of [5432, config.api.listen.port, config.gateway.listen.port])
    assert.deepEqual(hostsWithPort(textOf('haproxy.cfg'), port), HOSTS)
})

test('HAProxy, NATS and systemd accept their files', () => {
  using directory = temporaryDirectory()
  const changed = (name: string, from: RegExp, to: string) => {
    const file = join(directory.path, name)
    writeFileSync(file, textOf(name).replace(from, to))
    return file
  }
  // A certificate is there only on a real host.
  assert.doesNotMatch(
    run('haproxy', '-c', '-f', changed('haproxy.cfg', / ssl crt .*$/m, '')),
    /WARNING|ALERT/,
  )
  run('nats-server', '-t', '-c', changed('nats.conf', /\/var\/lib\/nats/, directory.path))
  const unit = join(directory.path, 'patroni.service')
  writeFileSync(unit, '[Unit]\nDescription=Patroni\n[Service]\nExecStart=/bin/true\n')
  mkdirSync(`${unit}.d`)
  copyFileSync(join(DIRECTORY, 'patroni.service.conf'), join(`${unit}.d`, 'platform.conf'))
  assert.equal(run('systemd-analyze', '--no-pager', 'verify', '--recursive-errors=one', unit), '')
})

test('Patroni accepts its configuration', async () => {
  using directory = temporaryDirectory()
  // It tries the addresses of etcd, and asks whether its own ones are free.
  await using etcd = createServer((socket) => socket.end()).listen(0, '127.0.0.9')
  await once(etcd, 'listening')
  const { port } = etcd.address() as AddressInfo
  const file = join(directory.path, 'patroni.yml')
  const text = textOf('patroni.yml')
    .replaceAll(/10\.0\.0\.\d:2379/g, `127.0.0.9:${port}`)
    .replaceAll('10.0.0.1:', '127.0.0.9:')
    .replace('/var/lib/postgresql/15/platform', join(directory.path, 'data'))
    .replace('/usr/lib/postgresql/15/bin', postgresPrograms())
  writeFileSync(file, text)
  const { stdout, stderr } = await promisify(execFile)('patroni', ['--validate-config', file])
  assert.equal(stdout + stderr, '')
})
