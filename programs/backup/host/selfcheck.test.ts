import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { absentPlatform, playedPlatform, type PlatformScript } from '../../../test/support/backup-host.ts'
import { startGatewayDouble } from '../../../test/support/gateway-double.ts'
import { tokenUntil } from '../../../test/support/vpn-world.ts'
import { fakeWaitingClock, type FakeWaitingClock } from '../../../test/support/waiting-clock.ts'
import { Secret } from '../../../src/kernel/secret.ts'
import { MINUTE, SECOND } from '../../../src/kernel/time.ts'
import {
  type SelfCheckStep,
  runSelfcheck,
  selfcheckSteps,
  type SelfCheckDeps,
  describeJobs,
  jobTimes,
} from './selfcheck.ts'

const API = 'http://127.0.0.1:9990'
const HEALTH = { status: 'ok', modules: ['api', 'gateway', 'worker'] }

function metricsAt(clock: { now(): number }, ageMs = 3 * SECOND): string {
  const at = (clock.now() - ageMs) / SECOND
  return [
    '# TYPE platform_job_runs_total counter',
    'platform_job_runs_total{name="order-expiry",outcome="done"} 3',
    'platform_job_runs_total{name="order-expiry",outcome="failed"} 0',
    'platform_job_runs_total{name="certificates",outcome="done"} 1',
    `platform_job_last_success_timestamp_seconds{name="order-expiry"} ${at}`,
    `platform_job_last_success_timestamp_seconds{name="certificates"} ${at - 3_000}`,
    'platform_job_run_seconds_count{name="order-expiry"} 3',
    '',
  ].join('\n')
}

function steps(clock: FakeWaitingClock, script: PlatformScript = {}, deps: Partial<SelfCheckDeps> = {}) {
  return selfcheckSteps({
    clock,
    platform: playedPlatform({ '/health': HEALTH, '/metrics': metricsAt(clock), ...script }),
    platformApi: API,
    workerUrls: [],
    hasWorker: true,
    isReadOnly: false,
    gatewayUrl: undefined,
    signToken: async () => new Secret(tokenUntil(9_999_999_999)),
    checkDatabase: async () => 'quick_check: ok',
    readDriveToken: () => undefined,
    ...deps,
  })
}

async function check(name: string, script?: PlatformScript, deps?: Partial<SelfCheckDeps>): Promise<string> {
  const clock = fakeWaitingClock()
  const step = steps(clock, script, deps).find((each) => each.name === name)
  assert.ok(step)
  return step.check(new AbortController().signal)
}

describe('the self-check of a server that is back', () => {
  it('passes, and says what it found', async () => {
    const clock = fakeWaitingClock()
    const results = await runSelfcheck({ clock, steps: steps(clock), forMs: 10 * MINUTE })
    assert.deepEqual(results, [
      { name: 'platform', ok: true, detail: 'HTTP status 200, ok' },
      { name: 'alerts', ok: true, detail: 'the platform recognises this routine' },
      { name: 'database', ok: true, detail: 'quick_check: ok' },
      { name: 'gateway', ok: true, detail: 'skipped: no gateway belongs to this server' },
      { name: 'worker', ok: true, detail: '2 jobs have succeeded, the last one 3 s ago' },
      { name: 'token-file', ok: true, detail: 'can be used' },
    ])
    assert.deepEqual(clock.waits(), [])
  })

  it('passes while the bus is away', async () => {
    assert.equal(await check('platform', { '/health': { status: 'degraded' } }), 'HTTP status 200, degraded')
  })

  for (const [what, answer, reason] of [
    ['its database fails', 503, /HTTP status 503/],
    ['something else answers', '<html>', /HTTP status 200, no health/],
    ['it is failing', { status: 'failing' }, /failing/],
  ] as const)
    it(`fails when ${what}`, async () => {
      await assert.rejects(check('platform', { '/health': answer }), reason)
    })

  it('fails when the platform is away, the database is damaged, or the token file cannot be used', async () => {
    const broken = (message: string) => () => {
      throw new Error(message)
    }
    const clock = fakeWaitingClock()
    const running = runSelfcheck({
      clock,
      steps: steps(
        clock,
        {},
        {
          platform: absentPlatform,
          checkDatabase: async () => broken('damaged')(),
          readDriveToken: broken('chmod 600 it'),
        },
      ),
      forMs: SECOND,
    })
    await clock.pass(SECOND)
    assert.deepEqual(
      (await running).map(({ name, ok, detail }) => [name, ok, detail]),
      [
        ['platform', false, 'the connection failed (ECONNREFUSED)'],
        [
          'alerts',
          false,
          `${API}: the connection failed (ECONNREFUSED); start the platform, or change backup.platform_api`,
        ],
        ['database', false, 'damaged'],
        ['gateway', true, 'skipped: no gateway belongs to this server'],
        ['worker', false, `no worker answers at ${API}; set worker.listen if it runs on its own`],
        ['token-file', false, 'chmod 600 it'],
      ],
    )
  })

  it('fails when the platform does not recognise the routine, so that no alert would arrive', async () => {
    await assert.rejects(
      check('alerts', { '/auth/me': 401 }),
      /does not recognise .* \(HTTP status 401\); set backup/,
    )
    // Its own fault is not one of the setting.
    await assert.rejects(
      check('alerts', { '/auth/me': 503 }),
      /answers with HTTP status 503; the platform at this address fails: "platform doctor" says why$/,
    )
  })

  it('logs in at the gateway', async (t) => {
    const gateway = await startGatewayDouble()
    t.after(() => gateway[Symbol.asyncDispose]())
    const gatewayUrl = gateway.url
    assert.equal(await check('gateway', {}, { gatewayUrl }), `${gatewayUrl} has opened a session`)
    assert.equal(gateway.sessions[0]?.closed?.code, 1000)
    gateway.script = { refuse: { status: 401, body: '{"message":"The token was revoked; sign in again."}' } }
    await assert.rejects(check('gateway', {}, { gatewayUrl }), /refused with 401/)
    const signToken = () => Promise.reject(new Error('no signing key'))
    await assert.rejects(check('gateway', {}, { gatewayUrl, signToken }), /no signing key/)
  })

  it('expects neither sessions nor jobs of a read-only platform', async () => {
    const deps = { isReadOnly: true, gatewayUrl: 'http://127.0.0.1:1' }
    assert.equal(await check('gateway', {}, deps), 'skipped: the platform is read-only')
    assert.equal(await check('worker', {}, deps), 'skipped: the platform is read-only')
  })

  it('finds the worker at its own address', async () => {
    const clock = fakeWaitingClock()
    const platform = playedPlatform({
      '9990/health': { status: 'ok', modules: ['api'] },
      '9990/metrics': '',
      '9995/health': { status: 'ok', modules: ['worker'] },
      '9995/metrics': metricsAt(clock),
    })
    const workerUrls = ['http://127.0.0.1:9995', API]
    assert.match(await check('worker', {}, { platform, workerUrls }), /^2 jobs/)
    await assert.rejects(check('worker', {}, { platform }), /set worker.listen/)
    assert.match(await check('worker', {}, { platform, hasWorker: false }), /^skipped/)
  })
})

describe('the jobs of the worker', () => {
  const clock = fakeWaitingClock()

  it('are read from its metrics', () => {
    assert.deepEqual(
      [...jobTimes(metricsAt(clock, 0))],
      [
        ['order-expiry', clock.now()],
        ['certificates', clock.now() - 3_000 * SECOND],
      ],
    )
  })

  it('must each have succeeded', () => {
    const metrics = `${metricsAt(clock)}platform_job_runs_total{name="broken",outcome="failed"} 9\n`
    assert.throws(() => describeJobs(metrics, clock.now()), /not succeeded since the start: broken$/)
  })

  it('must not all be old', () => {
    assert.throws(() => describeJobs(metricsAt(clock, 6 * MINUTE), clock.now()), /for 360 s/)
    assert.throws(() => describeJobs('', clock.now()), /no jobs/)
  })

  it('may be of a clock that is a little ahead', () => {
    assert.match(describeJobs(metricsAt(clock, -2 * SECOND), clock.now()), /0 s ago/)
  })
})

describe('a self-check', () => {
  /** Passes at the given try. */
  function passingAt(attempt: number): SelfCheckStep & { tries: number } {
    const step = {
      name: 'x',
      tries: 0,
      check: async () => {
        step.tries += 1
        if (step.tries < attempt) throw new Error(`try ${step.tries}`)
        return 'found'
      },
    }
    return step
  }

  it('repeats a check that fails after growing pauses, and one that has passed never', async () => {
    const clock = fakeWaitingClock()
    const [slow, quick] = [passingAt(6), passingAt(1)]
    const said: string[] = []
    const running = runSelfcheck({
      clock,
      steps: [slow, quick],
      forMs: 10 * MINUTE,
      onResult: ({ detail }) => said.push(detail),
    })
    for (const seconds of [2, 4, 8, 16, 30]) await clock.pass(seconds * SECOND)
    assert.deepEqual(
      (await running).map(({ ok }) => ok),
      [true, true],
    )
    assert.deepEqual([slow.tries, quick.tries], [6, 1])
    assert.deepEqual(said, ['try 1', 'found', 'try 2', 'try 3', 'try 4', 'try 5', 'found'])
    assert.deepEqual(clock.waits(), [])
  })

  it('ends after its time with the last failure', async () => {
    const clock = fakeWaitingClock()
    const running = runSelfcheck({ clock, steps: [passingAt(99)], forMs: 5 * SECOND })
    await clock.pass(2 * SECOND)
    await clock.pending(4 * SECOND)
    clock.advance(3 * SECOND)
    assert.deepEqual(await running, [{ name: 'x', ok: false, detail: 'try 2' }])
    assert.deepEqual(clock.waits(), [])
  })

  it('ends after its time, too, when a check does not', async () => {
    const clock = fakeWaitingClock()
    const step = { name: 'x', check: () => new Promise<string>(() => undefined) }
    const running = runSelfcheck({ clock, steps: [step], forMs: 10 * MINUTE })
    await clock.pass(10 * MINUTE)
    assert.deepEqual(await running, [{ name: 'x', ok: false, detail: 'no result within 10m' }])
  })

  it('ends when it is interrupted', async () => {
    const clock = fakeWaitingClock()
    const stop = new AbortController()
    const running = runSelfcheck({ clock, steps: [passingAt(99)], forMs: 10 * MINUTE, signal: stop.signal })
    await clock.pending(2 * SECOND)
    stop.abort()
    assert.equal((await running)[0]?.ok, false)
    assert.deepEqual(clock.waits(), [])
    const late = { name: 'x', check: () => new Promise<string>(() => undefined) }
    const stopped = await runSelfcheck({ clock, steps: [late], forMs: SECOND, signal: stop.signal })
    assert.equal(stopped[0]?.detail, 'interrupted')
  })
})
