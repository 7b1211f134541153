import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseMatcher } from '../labels.ts'
import { isMatched, silenceOf, stateOf, type Matchers } from './model.ts'

const ALERT = {
  source: 'platform.backup.primary',
  alarmId: 'backup.failed',
  serverAddr: '192.0.2.10',
  title: 'Backup failed',
  weight: 6,
  labels: null,
} as const

describe('the matchers of a silence', () => {
  const CASES: [matchers: Matchers, isMatch: boolean][] = [
    [{ source: 'platform.backup.primary' }, true],
    [{ source: 'platform.backup' }, false],
    [{ source: 'platform.backup*' }, true],
    [{ source: 'platform.backup.primary*' }, true],
    [{ source: '*' }, true],
    [{ source: '*primary' }, false],
    [{ source: 'PLATFORM*' }, false],
    [{ alarmId: 'backup.*', serverAddr: '192.0.2.*', title: 'Backup failed' }, true],
    [{ alarmId: 'backup.*', serverAddr: '192.0.2.11' }, false],
    [{ title: 'Backup.failed' }, false],
  ]
  for (const [matchers, isMatch] of CASES) {
    it(`${JSON.stringify(matchers)} ${isMatch ? 'match' : 'do not match'}`, () =>
      assert.equal(isMatched({ matchers }, ALERT), isMatch))
  }

  it('match no alert without the field', () => {
    const nameless = { ...ALERT, alarmId: null, serverAddr: null }
    for (const matchers of [{ alarmId: '*' }, { serverAddr: '*' }])
      assert.ok(!isMatched({ matchers }, nameless))
  })

  it('match a text exactly, or by any of its prefixes', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.nat(), fc.string({ minLength: 1 }), (title, cut, other) => {
        const alert = { ...ALERT, title }
        assert.ok(isMatched({ matchers: { title: `${title.slice(0, cut % (title.length + 1))}*` } }, alert))
        if (!other.endsWith('*'))
          assert.equal(isMatched({ matchers: { title: other } }, alert), other === title)
      }),
    )
  })
})

describe('matchers of labels', () => {
  const LABELLED = { ...ALERT, labels: JSON.stringify({ alertname: 'DiskFull', severity: 'page' }) }
  const CASES: [matcher: string, ofLabelled: boolean, ofReport: boolean][] = [
    ['alertname=DiskFull', true, false],
    ['alertname="Backup failed"', false, true],
    ['alertname=~"Disk.*"', true, false],
    ['alertname=~Disk', false, false],
    ['alertname!~"Disk.*"', false, true],
    ['severity="critical"', false, true],
    ['severity!=critical', true, false],
    ['alarm_id=~"backup[.](failed|late)"', false, true],
    ['missing=""', true, true],
    ['missing!=""', false, false],
    ['constructor=""', true, true],
    ['source=~"(a+)+$"', false, false],
  ]

  for (const [text, ofLabelled, ofReport] of CASES) {
    it(`${text} matches an alert with labels: ${ofLabelled}, a report: ${ofReport}`, () => {
      const matcher = parseMatcher(text)
      if (typeof matcher === 'string') assert.fail(matcher)
      const silence = { matchers: {}, labelMatchers: [matcher] }
      assert.deepEqual([isMatched(silence, LABELLED), isMatched(silence, ALERT)], [ofLabelled, ofReport])
    })
  }

  it('match beside the other matchers', () => {
    const labelMatchers = [{ name: 'severity', value: 'critical', isRegex: false, isEqual: true }]
    assert.ok(isMatched({ matchers: { title: 'Backup*' }, labelMatchers }, ALERT))
    assert.ok(!isMatched({ matchers: { title: 'Disk*' }, labelMatchers }, ALERT))
  })

  for (const wrong of [
    '',
    'alertname',
    '="x"',
    'a="x',
    'a=~"("',
    'a=~"(?=x)"',
    'a=~"x{60}y{60}"',
    `a=~"${'\\pL'.repeat(600)}"`,
  ]) {
    it(`are not read from ${wrong.slice(0, 20)}`, () => assert.equal(typeof parseMatcher(wrong), 'string'))
  }
})

describe('a silence', () => {
  const silence = { matchers: { source: '*' }, startsAt: 1_000, endsAt: 2_000 }

  it('is active from its start until before its end', () => {
    assert.deepEqual(
      [999, 1_000, 1_999, 2_000].map((now) => stateOf(silence, now)),
      ['pending', 'active', 'active', 'ended'],
    )
  })

  it('that was ended before its start has ended', () => {
    assert.equal(stateOf({ startsAt: 1_000, endsAt: 500 }, 500), 'ended')
  })

  it('silences while it is active; of several silences the one that ends last is named', () => {
    const longer = { ...silence, endsAt: 3_000 }
    const other = { ...silence, matchers: { source: 'other' }, endsAt: 4_000 }
    assert.equal(silenceOf(ALERT, [silence, longer, other], 1_500), longer)
    assert.equal(silenceOf(ALERT, [silence], 999), undefined)
    assert.equal(silenceOf(ALERT, [silence], 2_000), undefined)
    assert.equal(silenceOf(ALERT, [other], 1_500), undefined)
  })
})
