import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveSettings } from './resolve.ts'
import type { SettingTable } from './setting.ts'
import { valueType } from './value-types.ts'

const type = valueType({ name: 'text', expected: 'lower case', parse: (text) => /^[a-z]+$/.exec(text)?.[0] })
const TABLE: SettingTable = {
  'robot.url': { type, description: '', needs: 'robot.kind' },
  'robot.kind': { type, description: '', needs: 'robot.url' },
}

function problems(env: Readonly<Record<string, string>>): string[] {
  const resolved = resolveSettings(
    TABLE,
    { values: new Map(), commands: [], templates: [], channels: [], receivers: [], routes: [], problems: [] },
    { env, cwd: '/' },
  )
  return [...resolved.values()].flatMap(({ problem }) =>
    problem ? `${problem.key}: ${problem.expected}` : [],
  )
}

test('a setting that needs another one is an error without it', () => {
  assert.deepEqual(problems({ ROBOT_URL: 'a' }), ['robot.url: robot.kind beside it'])
  assert.deepEqual(problems({ ROBOT_KIND: 'a' }), ['robot.kind: robot.url beside it'])
  assert.deepEqual(problems({ ROBOT_URL: 'a', ROBOT_KIND: 'b' }), [])
})

test('a wrong value is reported once, also when it needs another setting', () => {
  assert.deepEqual(problems({ ROBOT_URL: '1' }), ['robot.url: lower case'])
  assert.deepEqual(problems({ ROBOT_URL: '1', ROBOT_KIND: 'b' }), ['robot.url: lower case'])
})
