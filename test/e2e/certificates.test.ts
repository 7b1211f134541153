import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { CertificateAuthority, type IssuedCertificate } from '../support/certificates.ts'
import { eventually } from '../support/eventually.ts'
import { createJumpingClock, missingFaketime } from '../support/jumping-clock.ts'
import { servePlatform, temporaryDirectory, type ServedPlatform } from '../support/platform.ts'
import { scopeOf } from '../support/scope.ts'

const PATIENCE = { timeoutMs: 120_000 }
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const START = Date.UTC(2026, 2, 1)
const LATE = Date.UTC(2029, 0, 1)

/** The steps of two years, written by hand, each with the severity of its alert. */
const CALENDAR: readonly (readonly [at: string, name: string, outcome: string])[] = [
  ['2026-05-01T12:30:00Z', 'forgotten', '60 INFO'],
  ['2026-05-31T12:30:00Z', 'forgotten', '30 WARNING'],
  ['2026-06-16T12:30:00Z', 'forgotten', '14 WARNING'],
  ['2026-06-23T12:30:00Z', 'forgotten', '7 ERROR'],
  ['2026-06-27T12:30:00Z', 'forgotten', '3 HIGH'],
  ['2026-06-29T12:30:00Z', 'forgotten', '1 CRITICAL'],
  ['2026-06-30T12:30:00Z', 'forgotten', '0 CRITICAL'],
  ['2026-08-02T00:00:00Z', 'shop', '60 INFO'],
  ['2026-09-01T00:00:00Z', 'shop', '30 WARNING'],
  ['2026-09-17T00:00:00Z', 'shop', '14 WARNING'],
  ['2027-01-14T23:59:59Z', 'chained', '60 INFO'],
  ['2027-02-13T23:59:59Z', 'chained', '30 WARNING'],
  ['2027-03-01T23:59:59Z', 'chained', '14 WARNING'],
  ['2027-03-08T23:59:59Z', 'chained', '7 ERROR'],
  ['2027-03-12T23:59:59Z', 'chained', '3 HIGH'],
  ['2027-03-14T23:59:59Z', 'chained', '1 CRITICAL'],
  ['2027-03-15T23:59:59Z', 'chained', '0 CRITICAL'],
]
// Two days after its step of 14 days, a wider certificate is registered.
const REPLACED_AFTER = '2026-09-17T00:00:00Z'

async function issueAll(authority: CertificateAuthority) {
  const names = (name: string) => [`DNS:${name}.example.com`]
  const from = START - DAY_MS
  const root = await authority.issue({
    subject: '/CN=root',
    isCa: true,
    from,
    to: Date.UTC(2027, 2, 15, 23, 59, 59),
  })
  return {
    forgotten: [
      await authority.issue({ names: names('forgotten'), from, to: Date.UTC(2026, 5, 30, 12, 30) }),
    ],
    shop: [await authority.issue({ names: names('shop'), from, to: Date.UTC(2026, 9, 1) })],
    chained: [await authority.issue({ names: names('chained'), from, to: LATE, signer: root }), root],
    'shop again': [
      await authority.issue({ names: [...names('shop'), 'DNS:www.example.com'], from, to: LATE }),
    ],
  }
}

async function world(t: TestContext) {
  const scope = scopeOf(t)
  const dataDir = scope.use(temporaryDirectory()).path
  const bundles = await issueAll(scope.use(new CertificateAuthority()))
  const clock = createJumpingClock(join(dataDir, 'clock'))
  clock.set(START)
  const env = { ...clock.env, WORKER_CERTIFICATE_SCAN: '50ms', TZ: 'Europe/Berlin' }
  const platform = scope.use(await servePlatform({ dataDir, env }))
  const read = async (path: string) => (await platform.call('GET', path)).json() as Promise<{ items: Item[] }>
  return {
    clock,
    platform,
    register: async (name: keyof typeof bundles) => register(platform, name, bundles[name]),
    /** The reported steps, oldest first. */
    steps: async () => {
      const { items } = await read('/messages?subject=certificate.expiring&limit=1000')
      return items.map(({ payload }) => `${payload.data.certificate.name} ${payload.data.step}`).toReversed()
    },
    alertOf: async (fingerprint: string) => {
      const { items } = await read('/alerts?source=platform.certificates&limit=1000')
      return items.find(({ alarm_id }) => alarm_id === `certificate.expiring:${fingerprint}`)
    },
  }
}

interface Item {
  readonly payload: {
    readonly data: { readonly certificate: { readonly name: string }; readonly step: number }
  }
  readonly alarm_id: string
  readonly severity: string
  readonly status: string
}

async function register(platform: ServedPlatform, name: string, bundle: readonly IssuedCertificate[]) {
  const body = { name, pem: bundle.map(({ pem }) => pem).join('') }
  const answer = await platform.call('POST', '/certificates', { body })
  const certificate = (await answer.json()) as { fingerprint_sha256: string }
  assert.equal(answer.status, 201, JSON.stringify(certificate))
  return certificate.fingerprint_sha256
}

/** Waits for two inspections to end: the second one has begun after this call. */
async function inspected(platform: ServedPlatform): Promise<void> {
  const count = async () => {
    const metrics = await (await platform.call('GET', '/metrics')).text()
    const line = /^platform_job_runs_total\{name="certificate-inspection",outcome="done"\} (\d+)$/m.exec(
      metrics,
    )
    return Number(line?.[1] ?? 0)
  }
  const before = await count()
  await eventually('two inspections', async () => (await count()) >= before + 2, PATIENCE)
}

test(
  'in two years the program reports each step when it is due, not an hour before, and only once',
  { skip: missingFaketime() ?? false },
  async (t) => {
    const w = await world(t)
    const fingerprints: Record<string, string> = {}
    for (const name of ['forgotten', 'shop', 'chained'] as const) fingerprints[name] = await w.register(name)
    const expected: string[] = []
    for (const [at, name, outcome] of CALENDAR) {
      const [step, severity] = outcome.split(' ')
      w.clock.set(Math.max(START, Date.parse(at) - HOUR_MS))
      await inspected(w.platform)
      assert.deepEqual(await w.steps(), expected, `an hour before ${at}`)
      w.clock.set(Date.parse(at) + 1_000)
      expected.push(`${name} ${step}`)
      await inspected(w.platform)
      assert.deepEqual(await w.steps(), expected, at)
      const alert = await w.alertOf(fingerprints[name] ?? '')
      assert.deepEqual([alert?.severity, alert?.status], [severity, 'firing'], at)
      if (at !== REPLACED_AFTER) continue
      w.clock.set(Date.parse(at) + 2 * DAY_MS)
      await w.register('shop again')
      assert.equal((await w.alertOf(fingerprints['shop'] ?? ''))?.status, 'recovered')
    }
    w.clock.set(Date.UTC(2028, 2, 1))
    await inspected(w.platform)
    assert.deepEqual(await w.steps(), expected, 'two years later')
    assert.equal(await w.platform.stop(), 0)
  },
)
