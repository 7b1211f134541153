import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const UNITS = join(import.meta.dirname, '../../deploy/systemd')
const SERVICE = 'platform-ticket-notify.service'
const TIMER = 'platform-ticket-notify.timer'

const read = (name: string) => readFileSync(join(UNITS, name), 'utf8')

/** The units with the path of this Node.js: the system may have none at theirs. */
function installed() {
  const directory = mkdtempSync(join(tmpdir(), 'platform-units-'))
  const service = read(SERVICE).replace('/usr/bin/node ', `${process.execPath} `)
  writeFileSync(join(directory, SERVICE), service)
  writeFileSync(join(directory, TIMER), read(TIMER))
  return {
    files: [SERVICE, TIMER].map((name) => join(directory, name)),
    service: join(directory, SERVICE),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function analyze(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['--no-pager', ...args], {
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

test('systemd accepts the units without a message', () => {
  using units = installed()
  const { status, output } = analyze('verify', '--recursive-errors=one', ...units.files)
  assert.deepEqual([status, output.trim()], [0, ''])
})

test('the exposure of the service is below 3 of 10', () => {
  using units = installed()
  const { status, output } = analyze('security', '--offline=true', '--threshold=29', units.service)
  assert.equal(status, 0, output)
  assert.ok(Number(/exposure level for \S+: ([\d.]+)/.exec(output)?.[1]) < 3, output)
})

// docs/specification.md, Limits
test('it runs 120 s after the boot and every 300 s after that, by the monotonic clock, for at most 300 s', () => {
  assert.match(read(TIMER), /^OnBootSec=120$/m)
  assert.match(read(TIMER), /^OnUnitActiveSec=300$/m)
  assert.doesNotMatch(read(TIMER), /^OnCalendar=/m)
  assert.match(read(SERVICE), /^Type=oneshot$/m)
  assert.match(read(SERVICE), /^TimeoutStartSec=300$/m)
})

test('it may write only to its state directory, where its state is', () => {
  assert.match(read(SERVICE), /^ProtectSystem=strict$/m)
  assert.match(read(SERVICE), /^StateDirectory=platform-ticket-notify$/m)
  assert.match(read(SERVICE), /^Environment=OPS_DIR=%S\/platform-ticket-notify$/m)
  assert.doesNotMatch(read(SERVICE), /^ReadWritePaths=/m)
  assert.match(read(SERVICE), /^NoNewPrivileges=yes$/m)
})
