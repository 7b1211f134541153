import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { configErrorLines, configFiles } from '../../test/support/config-files.ts'
import { describeConfig } from './describe.ts'
import type { LoadedConfig } from './config.ts'

const { load } = configFiles()
const newKey = () => randomBytes(48).toString('base64')
const [current, former] = [newKey(), newKey()]
const toml = (...keys: readonly unknown[]) => `auth.jwt_secret = ${JSON.stringify(keys)}\n`
const keysOf = ({ config }: LoadedConfig) => config.auth.jwtSecrets?.map((key) => key.reveal())

test('one key is a list of one, in the file and in the environment', () => {
  assert.deepEqual(keysOf(load(`auth.jwt_secret = "${current}"\n`)), [current])
  assert.deepEqual(keysOf(load(toml(current))), [current])
  assert.deepEqual(keysOf(load('', { JWT_SECRET: current })), [current])
})

test('several keys are an array in the file, and a JSON array in the environment', () => {
  assert.deepEqual(keysOf(load(toml(current, former))), [current, former])
  assert.deepEqual(keysOf(load('', { JWT_SECRET: JSON.stringify([current, former]) })), [current, former])
})

test('a comma is part of a key', () => {
  const key = `${current},${former}`
  assert.deepEqual(keysOf(load('', { JWT_SECRET: key })), [key])
})

test('`platform config` masks each key', () => {
  const line = /^auth\.jwt_secret +(.*?) +file /m
  assert.equal(line.exec(describeConfig(load(toml(current, former))))?.[1], '[**redacted**, **redacted**]')
  assert.equal(line.exec(describeConfig(load(toml(current))))?.[1], '**redacted**')
})

test('a key that is too short, a placeholder or no text is refused with its index, and is not shown', () => {
  for (const wrong of ['canary', 'changeme'.repeat(5), 7, '']) {
    for (const lines of [
      configErrorLines(() => load(toml(current, wrong))),
      configErrorLines(() => load('', { JWT_SECRET: JSON.stringify([current, wrong]) })),
    ]) {
      assert.equal(lines.length, 1)
      assert.match(lines[0] ?? '', /: auth\.jwt_secret\[1\]: expected a secret of at least 32 bytes [^,]*$/)
      assert.doesNotMatch(lines[0] ?? '', /canary|changeme/)
    }
  }
})

test('an empty array, a repeated key, a ninth key and an array that is no JSON are refused', () => {
  const nine = Array.from({ length: 9 }, newKey)
  for (const lines of [
    configErrorLines(() => load(toml())),
    configErrorLines(() => load(toml(current, current))),
    configErrorLines(() => load(toml(...nine))),
    configErrorLines(() => load('', { JWT_SECRET: `[${current}, ${former}]` })),
  ])
    assert.match(lines.join('\n'), /: auth\.jwt_secret: expected .* or an array of 1 to 8 different ones$/)
  assert.equal(keysOf(load(toml(...nine.slice(1))))?.length, 8)
})
