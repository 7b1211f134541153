import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { absentPlatform, playedPlatform } from '../../../test/support/backup-host.ts'
import { startGatewayDouble, type GatewayScript } from '../../../test/support/gateway-double.ts'
import { tokenUntil } from '../../../test/support/vpn-world.ts'
import { fakeWaitingClock } from '../../../test/support/waiting-clock.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { errorMessage } from '../../../src/kernel/errors.ts'
import { SECOND } from '../../../src/kernel/time.ts'
import { firstClosedGate, rebootGates, type RebootGateDeps } from './gates.ts'

const API = 'http://127.0.0.1:9990'

const DEPS: RebootGateDeps = {
  clock: systemClock,
  platform: playedPlatform(),
  platformApi: API,
  isVerified: () => true,
  today: () => '2026-01-31',
  rebootedOn: () => '2026-01-30',
}

/** Asks the gates, which are open unless `deps` say otherwise. */
async function ask(deps: Partial<RebootGateDeps> = {}) {
  const answers: string[] = []
  const gates = rebootGates({
    ...DEPS,
    ...deps,
  })
  const closed = await firstClosedGate(gates, (gate, { state }) => answers.push(`${gate}: ${state}`))
  return { closed, answers }
}

const ALL = [
  'verified',
  'no critical alert fires',
  'no command is running',
  'no data backup is running',
  'not rebooted today',
  'the standby gateway answers a real login',
]

describe('the gates of the reboot', () => {
  it('are asked in their order, and all are open on a good night', async () => {
    const platform = playedPlatform()
    const { closed, answers } = await ask({ platform })
    assert.equal(closed, undefined)
    const states = ['open', 'open', 'open', 'open', 'open', 'skipped']
    assert.deepEqual(
      answers,
      ALL.map((gate, at) => `${gate}: ${states[at]}`),
    )
    assert.deepEqual(platform.urls, [
      'http://127.0.0.1:9990/alerts?level=CRITICAL&status=firing&limit=1',
      'http://127.0.0.1:9990/alerts?level=CRITICAL&status=acknowledged&limit=1',
      'http://127.0.0.1:9990/alerts?level=CRITICAL&status=frozen&limit=1',
      'http://127.0.0.1:9990/commands/executions?status=running&limit=1',
      'http://127.0.0.1:9990/data/backups?limit=100',
    ])
  })

  const alert = { id: 'a1', alarm_id: 'db.down', status: 'firing' }
  for (const [gate, reason, deps] of [
    ['verified', 'the backup of this night is not verified', { isVerified: () => false }],
    ...['firing', 'acknowledged', 'frozen'].map(
      (status) =>
        [
          'no critical alert fires',
          `the critical alert "db.down" is ${status}`,
          { platform: playedPlatform({ [`status=${status}&limit=1`]: { items: [alert] } }) },
        ] as const,
    ),
    [
      'no critical alert fires',
      'the critical alert "a1" is firing',
      { platform: playedPlatform({ 'status=firing&limit=1': { items: [{ ...alert, alarm_id: null }] } }) },
    ],
    [
      'no command is running',
      'the command "rotate-logs" is running',
      { platform: playedPlatform({ 'status=running&limit=1': { items: [{ command_id: 'rotate-logs' }] } }) },
    ],
    [
      'no data backup is running',
      'the data backup "b2" is running',
      {
        platform: playedPlatform({
          'backups?limit=100': {
            items: [
              { id: 'b3', status: 'failed' },
              { id: 'b2', status: 'running' },
            ],
          },
        }),
      },
    ],
    [
      'not rebooted today',
      'this routine has rebooted on 2026-01-31 already',
      { rebootedOn: () => '2026-01-31' },
    ],
  ] as const) {
    it(`hold it back: ${reason}`, async () => {
      const { closed, answers } = await ask(deps)
      assert.deepEqual(closed, { gate, reason })
      assert.equal(answers.length, ALL.indexOf(gate) + 1)
    })
  }

  for (const [what, platform, reason] of [
    ['away', absentPlatform, 'the connection failed (ECONNREFUSED)'],
    ['failing', playedPlatform({ 'limit=1': 503 }), 'the platform answers with 503'],
    ['not the platform', playedPlatform({ 'limit=1': '<html>' }), 'the answer of the platform has no list'],
  ] as const) {
    it(`hold it back when the platform is ${what}`, async () => {
      const { closed } = await ask({ platform })
      assert.deepEqual(closed, { gate: 'no critical alert fires', reason: `could not be asked: ${reason}` })
    })
  }

  it('let the first reboot ever pass', async () => {
    assert.equal((await ask({ rebootedOn: () => undefined })).closed, undefined)
  })
})

describe('the gate of the standby gateway', () => {
  async function world(t: TestContext, script: GatewayScript = {}) {
    const gateway = await startGatewayDouble(script)
    const directory = mkdtempSync(join(tmpdir(), 'standby-'))
    t.after(async () => {
      await gateway[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true })
    })
    const tokenFile = join(directory, 'token')
    writeFileSync(tokenFile, `${tokenUntil(9_999_999_999)}\n`, { mode: 0o600 })
    return { gateway, tokenFile, standby: { gatewayUrl: gateway.url, tokenFile } }
  }

  it('is open after a login, and leaves no session behind', async (t) => {
    const { gateway, standby } = await world(t)
    const { closed, answers } = await ask({ standby })
    assert.deepEqual([closed, answers.at(-1)], [undefined, `${ALL.at(-1)}: open`])
    assert.deepEqual(
      gateway.sessions.map((session) => session.closed?.code),
      [1000],
    )
    const authorization = gateway.attempts[0]?.headers.authorization
    assert.equal(authorization, `Bearer ${tokenUntil(9_999_999_999)}`)
  })

  it('says when the token expires soon, and whether it has expired when it is refused', async (t) => {
    const { gateway, standby, tokenFile } = await world(t)
    const now = Math.floor(systemClock.now() / SECOND)
    const answerFor = async (expiresIn: number) => {
      writeFileSync(tokenFile, tokenUntil(now + expiresIn))
      const [gate] = rebootGates({ ...DEPS, standby }).slice(-1)
      return gate?.check().catch((error: unknown) => ({ state: 'refused', reason: errorMessage(error) }))
    }
    assert.deepEqual(await answerFor(8 * 86_400), { state: 'open' })
    const advice = `the token of ${tokenFile} expires in less than 3 d: write a new one (platform token issue)`
    assert.deepEqual(await answerFor(2.5 * 86_400), { state: 'open', reason: advice })
    gateway.script = { refuse: { status: 401 } }
    const { reason = '' } = (await answerFor(-1)) ?? { reason: '' }
    assert.match(reason, /refused with 401.*; the token of .* has expired: write a new one/)
  })

  for (const [what, script, reason] of [
    [
      'refuses the token',
      { refuse: { status: 401, body: '{"message":"The token was revoked."}' } },
      /401: The token/,
    ],
    ['is draining', { refuse: { status: 503 } }, /refused with 503/],
    [
      'redirects',
      { refuse: { status: 302, location: 'http://127.0.0.1:1' } },
      /redirections are not followed/,
    ],
    [
      'speaks something else',
      { greeting: (session) => session.send({ type: 'hello' }) },
      /no gateway answers there/,
    ],
  ] as const satisfies (readonly [string, GatewayScript, RegExp])[]) {
    it(`holds the reboot back when the gateway ${what}`, async (t) => {
      const { standby } = await world(t, script)
      const { closed } = await ask({ standby })
      assert.equal(closed?.gate, ALL.at(-1))
      assert.match(closed?.reason ?? '', reason)
      assert.ok(!closed?.reason.includes(tokenUntil(9_999_999_999)))
    })
  }

  it('holds the reboot back when the gateway does not answer within 10 s', async (t) => {
    const clock = fakeWaitingClock()
    const { standby } = await world(t, { mute: true })
    const asked = ask({ standby, clock })
    await clock.pass(10 * SECOND)
    assert.match((await asked).closed?.reason ?? '', /no session within 10 s/)
  })

  it('holds the reboot back when the gateway is away', async (t) => {
    const { gateway, standby } = await world(t)
    await gateway.vanish()
    assert.match((await ask({ standby })).closed?.reason ?? '', /not reached \(ECONNREFUSED\)/)
  })

  for (const [what, text, mode, reason] of [
    ['is empty', '', 0o600, /expected one JWT/],
    ['has two tokens', `${tokenUntil(1)}\n${tokenUntil(2)}`, 0o600, /expected one JWT/],
    ['is readable by others', tokenUntil(1), 0o644, /chmod 600/],
  ] as const) {
    it(`holds the reboot back when the token file ${what}`, async (t) => {
      const { gateway, standby, tokenFile } = await world(t)
      rmSync(tokenFile)
      writeFileSync(tokenFile, text, { mode })
      const { closed } = await ask({ standby })
      assert.match(closed?.reason ?? '', reason)
      assert.ok(text === '' || !closed?.reason.includes(tokenUntil(1)))
      assert.equal(gateway.attempts.length, 0)
    })
  }

  it('holds the reboot back when the address is none', async (t) => {
    const { standby } = await world(t)
    const { closed } = await ask({ standby: { ...standby, gatewayUrl: 'ftp://x' } })
    assert.match(closed?.reason ?? '', /must be an address such as/)
  })
})
