import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../../test/support/platform.ts'
import { loadConfig, type LoadedConfig, describeConfig } from './config.ts'
import type { Environment } from './env.ts'
import { SETTING_TABLE } from './schema.ts'

function load(env: Environment): LoadedConfig {
  return loadConfig({ env, cwd: '/nowhere', systemConfigPath: '/nowhere/platform.toml' })
}

test('each setting is printed once, with its value and where it came from', () => {
  const [header, ...lines] = describeConfig(load({ TOKEN_TTL: '90m' }))
    .trimEnd()
    .split('\n')
  assert.match(header ?? '', /^KEY +VALUE +SOURCE$/)
  assert.deepEqual(
    lines.map((line) => line.split(' ', 1)[0]),
    Object.keys(SETTING_TABLE),
  )
  assert.ok(lines.some((line) => /^auth\.token_ttl +90m +environment TOKEN_TTL$/.test(line)))
  assert.ok(lines.some((line) => /^data_dir +\/nowhere\/data +default$/.test(line)))
})

test('the columns are aligned', () => {
  const lines = describeConfig(load({})).trimEnd().split('\n')
  const start = lines[0]?.indexOf('SOURCE')
  assert.deepEqual(new Set(lines.map((line) => line.search(/(SOURCE|default)$/))), new Set([start]))
})

test('no secret is printed', () => {
  const text = describeConfig(
    load({
      JWT_SECRET: 'canary-9fK2pX7vQmB4tZ8nLw3RsY6jHd',
      DATABASE_URL: 'postgres://canary:canary@db/platform?password=canary#canary',
      BUS_SERVER: 'nats://canary:canary@a,nats://canary:canary@b',
    }),
  )
  assert.doesNotMatch(text, /canary/)
  assert.equal(text.match(/\*\*redacted\*\*/g)?.length, 5)
  assert.match(text, /postgres:\/\/\*\*redacted\*\*@db\/platform\?\*\*redacted\*\* /)
})

test('a value over several lines stays in its row', () => {
  const lines = describeConfig(load({ DATA_DIR: '/a\nb\u001b[2J' }))
    .trimEnd()
    .split('\n')
  assert.equal(lines.length, Object.keys(SETTING_TABLE).length + 1)
  assert.ok(lines.some((line) => line.includes('/a\\u{a}b\\u{1b}[2J ')))
})

test('a variable that counts before the file names what it overrides', () => {
  using directory = temporaryDirectory()
  const configPath = join(directory.path, 'p.toml')
  writeFileSync(configPath, '[api]\nrate_limit = 6000\n[auth]\ntoken_ttl = "1h"\n')
  const text = describeConfig(loadConfig({ configPath, env: { API_RATE_LIMIT: '3' }, cwd: '/nowhere' }))
  assert.match(text, /^api\.rate_limit +3 +environment API_RATE_LIMIT, overrides file .*p\.toml:2$/m)
  assert.match(text, /^auth\.token_ttl +1h +file .*p\.toml:4$/m)
})
