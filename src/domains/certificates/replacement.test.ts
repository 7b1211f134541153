import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { certificateWorld } from '../../../test/support/certificate-world.ts'
import { chanceOf } from '../../../test/support/random.ts'
import { onEveryDialect } from '../../../test/support/store.ts'
import { DAY } from '../../kernel/time.ts'
import { certificateWildcards } from '../../store/migrations/0028-certificate-wildcards.ts'
import { covers, replacementsAmong, type Replaceable } from './model.ts'

const RUNS = { sqlite: 40, postgres: 12 }

function certificate(id: string, names: readonly string[], end: number, revokedAt: number | null = null) {
  return { seq: Number(id), id, names, subject: 'CN=shop', notAfter: end, revokedAt }
}

const CASES: readonly (readonly [what: string, others: readonly Replaceable[], expected: string | null])[] = [
  ['nothing', [], null],
  ['one with the same names that ends later', [certificate('2', ['a', 'b'], 200)], '2'],
  ['one with more names', [certificate('2', ['c', 'b', 'a'], 200)], '2'],
  ['not one with fewer names', [certificate('2', ['a'], 200)], null],
  ['not one with other names', [certificate('2', ['a', 'c'], 200)], null],
  ['not one that a wildcard covers', [certificate('2', ['*', 'a'], 200)], null],
  ['not one that ends at the same time', [certificate('2', ['a', 'b'], 100)], null],
  ['not one that ends earlier', [certificate('2', ['a', 'b'], 99)], null],
  ['not a revoked one', [certificate('2', ['a', 'b'], 200, 1)], null],
  [
    'of several the one that ends last',
    [certificate('2', ['a', 'b'], 200), certificate('3', ['a', 'b'], 300), certificate('4', ['a', 'b'], 250)],
    '3',
  ],
  [
    'of several that end at once the one that was registered last',
    [certificate('2', ['a', 'b'], 200), certificate('3', ['a', 'b', 'c'], 200)],
    '3',
  ],
]

/** `*.example.com` and others, and what they cover. */
const WILDCARDS: readonly (readonly [names: readonly string[], by: readonly string[], isCovered: boolean])[] =
  [
    [['a.example.com'], ['*.example.com'], true],
    [['a.example.com', 'b.example.com', '*.example.com'], ['*.example.com'], true],
    [['a.example.com', 'example.com'], ['example.com', '*.example.com'], true],
    [['a.example.com', 'example.com'], ['*.example.com'], false],
    [['a.b.example.com'], ['*.example.com'], false],
    [['*.b.example.com'], ['*.example.com'], false],
    [['*.example.com'], ['a.example.com'], false],
    [['a.example.com'], ['*.com', '*', 'a*.example.com'], false],
    [['10.0.0.1'], ['*.0.0.1'], false],
    [['2001:db8::1.2.3.4'], ['*.2.3.4'], false],
  ]

for (const [names, by, isCovered] of WILDCARDS) {
  test(`${by.join()} ${isCovered ? 'replaces' : 'does not replace'} ${names.join()}`, () => {
    const replacements = replacementsAmong([certificate('1', names, 100), certificate('2', by, 200)])
    assert.equal(replacements.get('1'), isCovered ? '2' : null)
  })
}

test('a wildcard does not replace a certificate without names by its subject', () => {
  const nameless = { ...certificate('1', [], 100), subject: 'CN=a.example.com' }
  assert.equal(replacementsAmong([nameless, certificate('2', ['*.example.com'], 200)]).get('1'), null)
})

for (const [what, others, expected] of CASES) {
  test(`a certificate is replaced by ${what}`, () => {
    const replacements = replacementsAmong([certificate('1', ['a', 'b'], 100), ...others])
    assert.equal(replacements.get('1'), expected)
  })
}

test('a certificate without names is replaced by one with the same subject, and not by just any', () => {
  const nameless = { ...certificate('1', [], 100), subject: 'CN=root' }
  const another = { ...certificate('2', [], 200), subject: 'CN=another root' }
  assert.deepEqual([replacementsAmong([nameless, another, certificate('3', ['a'], 300)]).get('1')], [null])
  assert.equal(replacementsAmong([nameless, { ...another, subject: 'CN=root' }]).get('1'), '2')
})

type Step =
  | {
      readonly kind: 'register'
      readonly names: readonly string[]
      readonly subject: string
      readonly days: number
    }
  | { readonly kind: 'revoke' | 'delete' | 'inspect'; readonly pick: number }

const aStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('register' as const),
      names: fc.uniqueArray(fc.constantFrom('a.x', 'b.x', '*.x', 'c'), { maxLength: 3 }),
      subject: fc.constantFrom('CN=one', 'CN=two'),
      days: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('revoke' as const, 'delete' as const, 'inspect' as const),
      pick: fc.nat(),
    }),
  },
)

/** The rule of the specification, over all certificates. */
function expectedReplacement(one: Replaceable, all: readonly Replaceable[]): string | null {
  let best: Replaceable | undefined
  for (const other of all) {
    if (other.revokedAt !== null || other.notAfter <= one.notAfter || !covers(other, one)) continue
    if (!best || other.notAfter > best.notAfter || (other.notAfter === best.notAfter && other.seq > best.seq))
      best = other
  }
  return best?.id ?? null
}

onEveryDialect('what replaces what', (dialect) => {
  test('agrees with the rule after any registrations, revocations and deletions, and so do the alerts', async (t: TestContext) => {
    await using w = await certificateWorld(dialect)
    const list = async () => (await w.certificates.list({}, { limit: 1_000 })).items as unknown as Listed[]
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { minLength: 3, maxLength: 20 }), async (steps) => {
        for (const { id } of await list()) await w.certificates.remove(id, 'ada')
        for (const step of steps) await take(w, await list(), step)
        const all = await list()
        for (const each of all) {
          assert.equal(each.replacedBy, expectedReplacement(each, all))
          // Each ends within a week, so only a replaced or revoked one is quiet, at once.
          const isQuiet = each.replacedBy !== null || each.revokedAt !== null
          if (isQuiet) assert.equal(each.alertStep, null)
        }
        await w.inspect()
        for (const each of await list())
          assert.equal(each.alertStep === null, each.replacedBy !== null || each.revokedAt !== null)
      }),
      { seed: chanceOf(t).seed, numRuns: RUNS[dialect] },
    )
    await w.certificates.waitForRemovals()
  })

  test('of two that are registered at once by two processes, the wider one replaces the other', async () => {
    await using w = await certificateWorld(dialect)
    const now = w.clock.now()
    for (let round = 0; round < 10; round++) {
      const name = `n${round}.example.com`
      const [narrow, wide] = await Promise.all([
        w.register({ names: [name], notAfter: now + 10 * DAY }),
        w.another.register({ names: [name, 'www.example.com'], notAfter: now + 20 * DAY }),
      ])
      assert.equal((await w.certificates.get(narrow.id)).replacedBy, wide.id)
      const [, again] = await Promise.all([
        w.certificates.revoke(wide.id, null, 'ada'),
        w.another.register({ names: [name], notAfter: now + 15 * DAY }),
      ])
      assert.equal((await w.certificates.get(narrow.id)).replacedBy, again.id)
    }
  })

  test('a replaced certificate is quiet at once; when its replacement is revoked its alert is raised again, without an event', async () => {
    await using w = await certificateWorld(dialect)
    const old = await w.register({ notAfter: w.clock.now() + 5 * DAY })
    await w.inspect()
    const wider = await w.register({
      names: ['shop.example.com', 'www.example.com'],
      notAfter: w.clock.now() + 90 * DAY,
    })
    assert.deepEqual(
      [(await w.certificates.get(old.id)).status, w.alertLines()],
      ['replaced', ['certificate.expiring ERROR', 'certificate.expiring CLOSE']],
    )
    await w.inspect()
    await w.certificates.revoke(wider.id, 'mistake', 'ada')
    await w.inspect()
    assert.equal(w.alertLines().at(-1), 'certificate.expiring ERROR')
    assert.deepEqual(
      w.events.flatMap(({ step }) => step ?? []),
      [7],
    )
    await w.certificates.remove(old.id, 'ada')
    assert.deepEqual([w.alerts.length, w.alertLines().at(-1)], [4, 'certificate.expiring CLOSE'])
  })

  test('a wildcard replaces the certificates of single names, and ends their alerts', async () => {
    await using w = await certificateWorld(dialect)
    const now = w.clock.now()
    const hosts = await Promise.all(
      ['a', 'b', 'c.d'].map((host) =>
        w.register({ names: [`${host}.example.com`], notAfter: now + 5 * DAY }),
      ),
    )
    await w.inspect()
    const wildcard = await w.register({ names: ['*.example.com'], notAfter: now + 90 * DAY })
    const replacedBy = async () =>
      Promise.all(hosts.map(async ({ id }) => (await w.certificates.get(id)).replacedBy))
    assert.deepEqual(await replacedBy(), [wildcard.id, wildcard.id, null])
    assert.equal(w.alertLines().filter((line) => line === 'certificate.expiring CLOSE').length, 2)
    const late = await w.register({ names: ['e.example.com'], notAfter: now + 5 * DAY })
    assert.equal(late.replacedBy, wildcard.id)
    await w.certificates.revoke(wildcard.id, null, 'ada')
    assert.deepEqual(await replacedBy(), [null, null, null])
  })

  test('the migration finds the wildcards of the names, and what they replace', async () => {
    await using w = await certificateWorld(dialect)
    const end = w.clock.now() + 5 * DAY
    const names = [
      'a.example.com',
      'b.c_d-1.example.com',
      '*.example.com',
      'localhost',
      '10.0.0.1',
      '::1.2.3.4',
    ]
    const single = await Promise.all(names.map((name) => w.register({ names: [name], notAfter: end })))
    await w.register({ names: [], subject: 'CN=a.example.com', notAfter: end })
    await w.register({ names: ['*.example.com', '10.0.0.1'], notAfter: end + DAY })
    const state = () =>
      Promise.all([
        w.store.read.db
          .selectFrom('certificate_names')
          .selectAll()
          .orderBy('name')
          .orderBy('certificate_id')
          .execute(),
        w.store.read.db.selectFrom('certificates').select(['id', 'replaced_by']).orderBy('id').execute(),
      ])
    const before = await state()
    await w.store.write(async (tx) => {
      await tx.db.schema.dropIndex('certificate_names_by_wildcard').execute()
      await tx.db.schema.alterTable('certificate_names').dropColumn('wildcard').execute()
      await tx.db
        .updateTable('certificates')
        .set({ replaced_by: null })
        .where('id', '=', single[0]?.id ?? '')
        .execute()
      await certificateWildcards.up(tx, w.clock.now())
    })
    assert.deepEqual(await state(), before)
  })

  test('inspections of two processes at once report each step once', async () => {
    await using w = await certificateWorld(dialect)
    for (let days = 0; days < 8; days++)
      await w.register({ names: [`d${days}`], subject: `CN=${days}`, notAfter: w.clock.now() + days * DAY })
    await Promise.all([w.inspect(), w.another.inspect(), w.inspect()])
    const steps = [...w.events, ...w.another.events].flatMap(({ step }) => step ?? [])
    assert.deepEqual(
      steps.toSorted((one, other) => one - other),
      [0, 1, 3, 3, 7, 7, 7, 7],
    )
    assert.equal(w.alerts.length + w.another.alerts.length, 8)
  })

  test('the event has the certificate as it is, the step, and which certificate ends first', async () => {
    await using w = await certificateWorld(dialect)
    const now = w.clock.now()
    const { id, chain } = await w.register({
      notAfter: now + 400 * DAY,
      chain: [now + 500 * DAY, now + 2 * DAY],
    })
    await w.inspect()
    const { type, certificate: shown, step, expiresFirst } = w.events.at(-1) ?? assert.fail()
    assert.deepEqual(
      [type, shown.id, shown.status, step, expiresFirst],
      ['certificate.expiring', id, 'valid', 3, chain[1]?.fingerprintSha256],
    )
    assert.match(w.alerts[0]?.body ?? '', /CN=issuer 1.* ends 398 days before it/)
  })

  test('the alert of a certificate that has ended names the end', async () => {
    await using w = await certificateWorld(dialect)
    await w.register({ notAfter: w.clock.now() - DAY })
    await w.inspect()
    const { title, body } = w.alerts[0] ?? assert.fail()
    assert.match(title, /has ended$/)
    assert.match(body, /^It ended at /)
  })
})

type Listed = Replaceable & { readonly replacedBy: string | null; readonly alertStep: number | null }

async function take(
  w: Awaited<ReturnType<typeof certificateWorld>>,
  all: readonly Replaceable[],
  step: Step,
) {
  if (step.kind === 'register') {
    const { names, subject, days } = step
    return w.register({ names, subject, notAfter: w.clock.now() + days * DAY })
  }
  if (step.kind === 'inspect') return w.inspect()
  const { id } = all[step.pick % all.length] ?? {}
  if (id === undefined) return undefined
  if (step.kind === 'revoke') return w.certificates.revoke(id, null, 'ada')
  return w.certificates.remove(id, 'ada')
}
