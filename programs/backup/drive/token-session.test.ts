import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { writeTokenFile } from '../../../test/support/drive-world.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { SECOND } from '../../../src/kernel/time.ts'
import { TokenFile } from './token-file.ts'
import { TokenSession, type ExchangeToken } from './token-session.ts'

/** A session whose drive gives tokens that live for a time. */
function sessionOf(t: TestContext, expiresInMs: number, duringExchange = () => {}) {
  const directory = mkdtempSync(join(tmpdir(), 'token-session-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'token.json')
  writeTokenFile(path, { expires_in: expiresInMs / SECOND })
  const fake = fakeClock()
  const clock = { ...fake, wait: async () => undefined }
  let renewals = 0
  const exchange: ExchangeToken = async () => {
    duringExchange()
    const [accessToken, refreshToken] = [`access-${++renewals}`, `refresh-${renewals}`].map(
      (text) => new Secret(text),
    ) as [Secret, Secret]
    return { accessToken, refreshToken, expiresInMs }
  }
  const session = new TokenSession({ file: new TokenFile(path), exchange, clock })
  return { session, path, clock: fake, renewals: () => renewals }
}

describe('an access token', () => {
  for (const [life, used] of [
    [7_200, 7_000],
    [200, 100],
    [60, 30],
  ] as const)
    it(`that lives for ${life} s is used for ${used} s`, async (t) => {
      const { session, clock, renewals } = sessionOf(t, life * SECOND)
      for (const _ of [1, 2, 3]) await session.accessToken()
      clock.advance(used * SECOND)
      await session.accessToken()
      assert.equal(renewals(), 0)
      clock.advance(SECOND)
      for (const _ of [1, 2, 3]) await session.accessToken()
      assert.equal(renewals(), 1)
    })
})

describe('renewed tokens', () => {
  it('that cannot be stored, because the file became unreadable, are lost with the advice to authorise anew', async (t) => {
    const { session, path } = sessionOf(t, 60 * SECOND, () => writeFileSync(path, 'no JSON'))
    await assert.rejects(session.renew(new Secret('stale')), {
      errorCode: 'token_refresh_failed',
      message: /could not be stored \(.*must be a JSON object\); authorise the drive anew: see /,
    })
  })
})
