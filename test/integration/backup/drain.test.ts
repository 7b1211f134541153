import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HostShell } from '../../../programs/backup/host/host-shell.ts'
import { drainAndReboot } from '../../../programs/backup/host/reboot.ts'
import { openSession, parseGatewayAddress } from '../../../programs/vpn-client/index.ts'
import { selfcheckParts } from '../../../src/app/commands/backup.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { MINUTE } from '../../../src/kernel/time.ts'
import { servePlatform, temporaryDirectory } from '../../support/platform.ts'

/** A `systemctl` for one process: `stop` returns when the process has ended, as that of systemd does. */
function installSystemctl(directory: string, pid: number): { readonly path: string; calls(): string[] } {
  const [bin, log] = [join(directory, 'bin'), join(directory, 'calls')]
  mkdirSync(bin)
  const script = [
    '#!/bin/sh',
    `alive() { kill -0 ${pid} 2>/dev/null; }`,
    `alive && state=running || state=ended`,
    `echo "$1: $state" >> ${log}`,
    'case "$1" in',
    'list-units) echo "platform.service loaded active running Backend platform" ;;',
    `stop) kill -TERM ${pid}; while alive; do sleep 0.05; done ;;`,
    'esac',
  ]
  writeFileSync(join(bin, 'systemctl'), `${script.join('\n')}\n`)
  chmodSync(join(bin, 'systemctl'), 0o755)
  return {
    path: `${bin}:${process.env['PATH']}`,
    calls: () => readFileSync(log, 'utf8').trim().split('\n'),
  }
}

test('the reboot begins when a real platform has closed its sessions with 1001 and has ended', async () => {
  using directory = temporaryDirectory()
  await using platform = await servePlatform({ dataDir: directory.path })
  const options = { cwd: directory.path, systemConfigPath: join(directory.path, 'none.toml') }
  const parts = selfcheckParts(loadConfig({ ...options, env: { DATA_DIR: directory.path } }))
  const opened = await openSession({
    gateway: parseGatewayAddress(platform.gatewayUrl),
    token: await parts.signToken(),
    device: undefined,
    clock: systemClock,
    timeoutMs: MINUTE,
    signal: new AbortController().signal,
  })
  assert.ok('session' in opened)
  const systemctl = installSystemctl(directory.path, platform.pid)
  const shell = new HostShell({ clock: systemClock, path: systemctl.path })

  const command = ['systemctl', 'reboot']
  assert.equal(await drainAndReboot({ shell, command, log: () => undefined }), undefined)

  assert.equal((await opened.session.lost).code, 1001)
  assert.equal(await platform.ended, 0)
  assert.deepEqual(systemctl.calls(), ['list-units: running', 'stop: running', 'reboot: ended'])
})
