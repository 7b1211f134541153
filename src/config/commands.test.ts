import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { describeConfig, loadConfig } from './config.ts'

function load(toml: string, env: Readonly<Record<string, string>> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'platform-config-'))
  try {
    writeFileSync(join(cwd, 'platform.toml'), toml)
    return loadConfig({ env, cwd, systemConfigPath: '/nowhere' })
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

const EXAMPLE = `[commands]
approval_ttl = "30m"

[commands.restart-nginx]
title = "Restart the web server"
run = ["systemctl", "restart", "{unit}"]
timeout = "2m"
approval = "none"
max_concurrent = 1
params.unit = { type = "string", pattern = "^[a-z-]+$", default = "nginx" }

[commands.rotate]
run = ["rotate", "--mode={mode}", "{ print }"]
approval = "two_person"
[commands.rotate.params.mode]
type = "enum"
values = ["soft", "hard"]
[commands.rotate.params.api-key]
type = "string"
secret = true
`

test('commands of the configuration, with their defaults', () => {
  const { commands } = load(EXAMPLE, { PATH: '/bin', HOME: '/root', OTHER: 'x' }).config
  assert.equal(commands.approvalTtlMs, 1_800_000)
  assert.deepEqual(commands.environment, { PATH: '/bin', HOME: '/root', LANG: 'C.UTF-8' })
  const [restart, rotate] = commands.programs
  assert.deepEqual(restart, {
    id: 'restart-nginx',
    title: 'Restart the web server',
    description: '',
    run: ['systemctl', 'restart', '{unit}'],
    timeoutMs: 120_000,
    approval: 'none',
    maxConcurrent: 1,
    params: { unit: { type: 'string', pattern: '^[a-z-]+$', default: 'nginx' } },
    source: 'file platform.toml:4',
  })
  assert.equal(rotate?.title, 'rotate')
  assert.equal(rotate?.timeoutMs, 600_000)
  assert.deepEqual(rotate?.params, {
    mode: { type: 'enum', values: ['soft', 'hard'] },
    'api-key': { type: 'string', isSecret: true },
  })
})

test('platform config shows the commands', () => {
  assert.match(
    describeConfig(load(EXAMPLE)),
    /commands\.rotate +\["rotate","--mode=\{mode\}","\{ print \}"\] +file platform\.toml:12/,
  )
})

/** One wrong entry, and how its error line begins. */
const WRONG: readonly (readonly [toml: string, error: string])[] = [
  ['[commands.x]\ntitle = "X"', 'file platform.toml:1: commands.x.run: expected a list of a program'],
  ['[commands.x]\nrun = []', 'file platform.toml:2: commands.x.run: expected a list of a program'],
  ['[commands.x]\nrun = "ls -l"', 'file platform.toml:2: commands.x.run: expected a list of a program'],
  ['[commands.x]\nrun = ["ls", 1]', 'file platform.toml:2: commands.x.run: expected a list of a program'],
  [
    '[commands.x]\nrun = ["{p}"]\nparams.p = { type = "string" }',
    'file platform.toml:2: commands.x.run: expected a program without a placeholder',
  ],
  [
    '[commands.x]\nrun = ["ls", "{dir}"]',
    'file platform.toml:2: commands.x.run: expected placeholders of parameters, and there is no params.dir',
  ],
  [
    '[commands.x]\nrun = ["ls", "{toString}"]',
    'file platform.toml:2: commands.x.run: expected placeholders of parameters, and there is no params.toString',
  ],
  [
    '[commands.x]\nrun = ["ls", "-p={key}"]\nparams.key = { type = "string", secret = true }',
    'file platform.toml:2: commands.x.run: expected no secret in an argument; params.key is in PARAM_KEY',
  ],
  [
    '[commands.x]\nrun = ["ls"]\ntimeout = "soon"',
    'file platform.toml:3: commands.x.timeout: expected a duration',
  ],
  [
    '[commands.x]\nrun = ["ls"]\ntimeout = 5',
    'file platform.toml:3: commands.x.timeout: expected a duration',
  ],
  [
    '[commands.x]\nrun = ["ls"]\napproval = "three"',
    'file platform.toml:3: commands.x.approval: expected one of none, two_person',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nmax_concurrent = 0',
    'file platform.toml:3: commands.x.max_concurrent: expected an integer',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nmax_concurrent = "2"',
    'file platform.toml:3: commands.x.max_concurrent: expected an integer',
  ],
  [
    '[commands.x]\nrun = ["ls"]\ntimout = "1m"',
    'file platform.toml:3: commands.x.timout: expected a known key, did you mean timeout?',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.p = { type = "text" }',
    'file platform.toml:3: commands.x.params.p.type: expected one of string, integer, boolean, enum',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.p = { default = 1 }',
    'file platform.toml:3: commands.x.params.p.type: expected one of string',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.p = "string"',
    'file platform.toml:3: commands.x.params.p: expected a table [commands.x.params.p]',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.p = { type = "enum" }',
    'file platform.toml:3: commands.x.params.p.values: expected a list of different texts',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.p = { type = "enum", values = [] }',
    'file platform.toml:3: commands.x.params.p.values: expected a list of different texts',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.p = { type = "string", values = ["a"] }',
    'file platform.toml:3: commands.x.params.p.values: expected no values',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.p = { type = "integer", pattern = "a" }',
    'file platform.toml:3: commands.x.params.p.pattern: expected no pattern',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.p = { type = "string", pattern = "(" }',
    'file platform.toml:3: commands.x.params.p.pattern: expected a regular expression',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.p = { type = "integer", default = "1" }',
    'file platform.toml:3: commands.x.params.p.default: expected a value that must be an integer',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.p = { type = "string", pattern = "^a$", default = "b" }',
    'file platform.toml:3: commands.x.params.p.default: expected a value that must match ^a$',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.p = { type = "string", secret = true, default = "CANARY" }',
    'file platform.toml:3: commands.x.params.p.default: expected no default for a secret',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.p = { type = "string", secret = "yes" }',
    'file platform.toml:3: commands.x.params.p.secret: expected true or false',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams.a-b = { type = "string", secret = true }\nparams.a_b = { type = "string", secret = true }',
    'file platform.toml:4: commands.x.params.a_b: expected a name whose variable is not PARAM_A_B too',
  ],
  [
    '[commands.x]\nrun = ["ls"]\nparams."a b" = { type = "string" }',
    'file platform.toml:3: commands.x.params.a b: expected a name',
  ],
  ['[commands."a.b"]\nrun = ["ls"]', 'file platform.toml:1: commands.a.b: expected an id'],
  ['[commands.policy]\nrun = ["ls"]', 'file platform.toml:1: commands.policy: expected an id'],
  [
    '[commands]\napproval_tll = "1h"',
    'file platform.toml:2: commands.approval_tll: expected a known key, did you mean commands.approval_ttl?',
  ],
  ['[commands]\napproval_ttl = "never"', 'file platform.toml:2: commands.approval_ttl: expected a duration'],
  ['commands.x = "ls -l"', 'file platform.toml:1: commands.x: expected a table [commands.x]'],
  ['[[commands.x]]\nrun = ["ls"]', 'file platform.toml:1: commands.x: expected a table [commands.x]'],
  ['commands = 3', 'file platform.toml:1: commands: expected a table [commands]'],
]

for (const [toml, error] of WRONG) {
  test(`refused: ${JSON.stringify(toml).slice(0, 120)}`, () => {
    assert.throws(
      () => load(toml),
      (thrown: Error) => {
        assert.ok(thrown.message.startsWith(error), thrown.message)
        assert.equal(thrown.message.split('\n').length, 1, thrown.message)
        assert.ok(!thrown.message.includes('CANARY'))
        return true
      },
    )
  })
}
