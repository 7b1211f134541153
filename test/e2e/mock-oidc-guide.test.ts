import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { VARIABLE_NAMES } from '../../programs/mock-oidc/env.ts'
import { SCENARIO_NAMES } from '../../programs/mock-oidc/scenarios.ts'
import { TOKEN_CHECKS } from '../../programs/mock-oidc/token.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { startTestProvider } from '../support/mock-oidc.ts'

const ROOT = join(import.meta.dirname, '../..')
const guide = readFileSync(join(ROOT, 'docs/guide/mock-oidc.md'), 'utf8')

/** The first column of the tables, in order. */
function rowsBelow(heading: string): string[] {
  const section = guide.split(/^#+ /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, name = '']) => name)
}

test('the guide lists every variable, every scenario and every check of /token, in their order', () => {
  const { authorization_code: ofCodes, refresh_token: ofRefreshTokens } = TOKEN_CHECKS
  const checks = new Set([...ofCodes, ...ofRefreshTokens].map(({ name }) => name))
  assert.deepEqual(rowsBelow('Variables'), VARIABLE_NAMES)
  assert.deepEqual(rowsBelow('Scenarios'), SCENARIO_NAMES)
  const rows = rowsBelow('What `/token` checks')
  assert.deepEqual(new Set(rows), checks)
  for (const list of [ofCodes, ofRefreshTokens]) {
    const names = list.map(({ name }) => name)
    assert.deepEqual(
      rows.filter((name) => names.includes(name)),
      names,
    )
  }
})

test('the example of the guide runs', async () => {
  await using provider = await startTestProvider({}, systemClock)
  const example = /^```ts\n(.*?)^```$/ms.exec(guide)?.[1] ?? ''
  assert.equal(example.trimEnd().split('\n').length, 10)
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module-typescript', '--eval', example],
    { cwd: ROOT, env: { MOCK_ISSUER: provider.url } },
  )
  assert.match(stdout, /sub: 'mock_user_docvalue_0001'/)
})
