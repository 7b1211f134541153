import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  applyReport,
  changeOf,
  newAlert,
  recover,
  SEVERITIES,
  severityOf,
  weightsOf,
  type Alert,
  type AlertLevel,
  type AlertWeight,
  type Report,
  type Severity,
} from './model.ts'

function reportOf(level: Severity | AlertLevel, weight?: AlertWeight): Report {
  const texts = {
    alarmId: 'backup.failed',
    source: 'platform.backup',
    title: 'Backup failed',
    body: '',
    serverAddr: null,
  }
  return weight === undefined ? { ...texts, level } : { ...texts, level, weight }
}

function fresh(report: Report): Alert {
  return newAlert(report, 'id', 1_000)
}

function after(...levels: (Severity | AlertLevel)[]): Alert {
  const [first, ...rest] = levels.map((level) => reportOf(level)) as [Report, ...Report[]]
  return rest.reduce<Alert>((alert, report) => applyReport(alert, report, alert.lastAt + 1_000), fresh(first))
}

describe('the mapping of levels', () => {
  const ROWS: [Severity, weight: AlertWeight, level: AlertLevel, repeated: AlertLevel][] = [
    ['CRITICAL', 6, 4, 4],
    ['HIGH', 5, 4, 3],
    ['ERROR', 4, 3, 3],
    ['WARNING', 3, 2, 2],
    ['INFO', 2, 1, 1],
    ['CLOSE', 0, 5, 5],
  ]

  it('has a row for every standard level', () => {
    assert.deepEqual(
      ROWS.map(([severity]) => severity),
      [...SEVERITIES],
    )
  })

  for (const [severity, weight, level, repeatedLevel] of ROWS) {
    it(`maps ${severity} to weight ${weight} and level ${level}, repeated ${repeatedLevel}`, () => {
      const once = after(severity)
      assert.deepEqual([once.weight, once.level, severityOf(once.weight)], [weight, level, severity])
      assert.equal(after(severity, severity).level, repeatedLevel)
      assert.equal(after(severity, severity, severity).level, repeatedLevel)
    })
  }

  const INTERNAL: [AlertLevel, AlertWeight, Severity][] = [
    [0, 1, 'INFO'],
    [1, 2, 'INFO'],
    [2, 3, 'WARNING'],
    [3, 4, 'ERROR'],
    [4, 6, 'CRITICAL'],
    [5, 0, 'CLOSE'],
  ]
  for (const [level, weight, severity] of INTERNAL) {
    it(`reads the internal level ${level} as weight ${weight}, ${severity}`, () => {
      const alert = after(level, level)
      assert.deepEqual([alert.level, alert.weight, severityOf(alert.weight)], [level, weight, severity])
    })
  }

  it('has one name for each weight from 0 to 6', () => {
    assert.deepEqual(
      SEVERITIES.flatMap(weightsOf).toSorted((a, b) => a - b),
      [0, 1, 2, 3, 4, 5, 6],
    )
    assert.deepEqual(weightsOf('INFO'), [1, 2])
  })
})

describe('an explicit weight', () => {
  it('overrides that of the level, and the level stays as reported', () => {
    const alert = fresh(reportOf('WARNING', 6))
    assert.deepEqual([alert.level, alert.weight, severityOf(alert.weight)], [2, 6, 'CRITICAL'])
  })

  it('recovers the alert when it is 0, whatever the level', () => {
    const alert = applyReport(after('CRITICAL'), reportOf('CRITICAL', 0), 2_000)
    assert.deepEqual([alert.status, alert.level, alert.weight], ['recovered', 5, 0])
  })

  for (const level of ['CLOSE', 5] as const) {
    it(`does not prevent ${level} from recovering the alert`, () => {
      const alert = applyReport(after('CRITICAL'), reportOf(level, 6), 2_000)
      assert.deepEqual([alert.status, alert.level, alert.weight], ['recovered', 5, 0])
    })
  }
})

describe('HIGH', () => {
  const CASES: [title: string, levels: Severity[], level: AlertLevel][] = [
    ['is level 4 after an ERROR', ['ERROR', 'HIGH'], 4],
    ['is level 3 from its second report on', ['ERROR', 'HIGH', 'HIGH', 'HIGH'], 3],
    ['is level 4 after a CRITICAL', ['CRITICAL', 'HIGH'], 4],
    ['is level 4 again after a recovery', ['HIGH', 'HIGH', 'CLOSE', 'HIGH'], 4],
  ]
  for (const [title, levels, level] of CASES) it(title, () => assert.equal(after(...levels).level, level))

  it('is level 3 when it repeats with an explicit weight', () => {
    assert.equal(applyReport(fresh(reportOf('HIGH', 6)), reportOf('HIGH', 6), 2_000).level, 3)
  })

  it('keeps an internal level that was reported as a number', () => {
    assert.equal(after(4, 4).level, 4)
  })
})

describe('an alert', () => {
  it('takes the texts of its last report and keeps its id, its alarm id and its first time', () => {
    const text = {
      source: 'platform.backup.standby',
      title: 'Still failing',
      body: 'No space.',
      serverAddr: '192.0.2.1',
    }
    const before = after('ERROR')
    assert.deepEqual(applyReport(before, { ...reportOf('ERROR'), ...text }, 9_000), {
      ...before,
      ...text,
      count: 2,
      lastAt: 9_000,
    })
  })

  it('whose first report is a recovery is recovered, with a count of 0', () => {
    const alert = after('CLOSE')
    assert.deepEqual(
      [alert.status, alert.count, alert.firstAt, alert.recoveredAt],
      ['recovered', 0, 1_000, 1_000],
    )
    assert.equal(changeOf(undefined, alert), 'recovered')
  })

  it('keeps the time of its recovery when the recovery is reported again', () => {
    const alert = after('ERROR', 'CLOSE', 'CLOSE')
    assert.deepEqual([alert.recoveredAt, alert.lastAt, alert.count], [2_000, 3_000, 1])
  })

  it('that fires again after a recovery continues its count', () => {
    const alert = after('ERROR', 'ERROR', 'CLOSE', 'ERROR')
    assert.deepEqual([alert.status, alert.count, alert.recoveredAt], ['firing', 3, null])
  })

  it('that was acknowledged stays acknowledged unless its weight increases', () => {
    const acknowledged: Alert = { ...after('ERROR'), status: 'acknowledged' }
    const statusAfter = (severity: Severity) => applyReport(acknowledged, reportOf(severity), 2_000).status
    assert.deepEqual((['WARNING', 'ERROR', 'HIGH', 'CLOSE'] as const).map(statusAfter), [
      'acknowledged',
      'acknowledged',
      'firing',
      'recovered',
    ])
  })

  it('that is frozen takes its reports and emits no event', () => {
    const frozen: Alert = { ...after('CRITICAL'), status: 'frozen' }
    const closed = applyReport(frozen, reportOf('CLOSE'), 2_000)
    const fired = applyReport(closed, reportOf('CRITICAL'), 3_000)
    assert.deepEqual([closed.status, closed.weight, closed.recoveredAt], ['frozen', 0, 2_000])
    assert.deepEqual([fired.status, fired.weight, fired.recoveredAt, fired.count], ['frozen', 6, null, 2])
    assert.deepEqual([changeOf(frozen, closed), changeOf(closed, fired)], ['repeated', 'repeated'])
  })

  it('that is frozen can be declared recovered', () => {
    const frozen: Alert = { ...after('CRITICAL'), status: 'frozen' }
    const next = recover(frozen, 2_000)
    assert.deepEqual([next.status, next.level, next.weight, next.recoveredAt], ['recovered', 5, 0, 2_000])
    assert.equal(changeOf(frozen, next), 'recovered')
  })
})

describe('the kind of a change', () => {
  const CASES: [before: Severity[], last: Severity, change: string][] = [
    [[], 'INFO', 'raised'],
    [['ERROR'], 'ERROR', 'repeated'],
    [['ERROR'], 'HIGH', 'raised'],
    [['HIGH'], 'ERROR', 'repeated'],
    [['ERROR'], 'CLOSE', 'recovered'],
    [['ERROR', 'CLOSE'], 'CLOSE', 'repeated'],
    [['ERROR', 'CLOSE'], 'INFO', 'raised'],
  ]
  for (const [before, last, change] of CASES) {
    it(`${last} after ${before.join(', ') || 'nothing'} is ${change}`, () => {
      const known = before.length > 0 ? after(...before) : undefined
      assert.equal(changeOf(known, after(...before, last)), change)
    })
  }
})

describe('any sequence of reports', () => {
  const anyReport = fc
    .record({
      level: fc.constantFrom(...SEVERITIES, ...([0, 1, 2, 3, 4, 5] as const)),
      weight: fc.option(fc.constantFrom(...([0, 1, 2, 3, 4, 5, 6] as const)), { nil: undefined }),
    })
    .map(({ level, weight }) => reportOf(level, weight))
  const closes = ({ level, weight }: Report) => level === 'CLOSE' || level === 5 || weight === 0

  it('counts the firing reports, and leaves the state of the last one', () => {
    fc.assert(
      fc.property(fc.array(anyReport, { minLength: 1, maxLength: 30 }), (reports) => {
        const [first, ...rest] = reports as [Report, ...Report[]]
        const alert = rest.reduce<Alert>(
          (known, report) => applyReport(known, report, known.lastAt + 1),
          fresh(first),
        )
        assert.equal(alert.count, reports.filter((report) => !closes(report)).length)
        const isRecovered = closes(reports.at(-1) as Report)
        assert.equal(alert.status, isRecovered ? 'recovered' : 'firing')
        assert.equal(alert.recoveredAt !== null, isRecovered)
        assert.equal(alert.weight === 0, isRecovered)
        assert.equal(alert.level === 5, isRecovered)
      }),
    )
  })
})
