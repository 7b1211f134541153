import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { applyFirstReport, applyRecovery, applyFurtherReport, type AlertTransition } from './transitions.ts'
import {
  SEVERITIES,
  severityOf,
  weightsOf,
  type Alert,
  type AlertLevel,
  type AlertWeight,
  type Report,
  type Severity,
} from './model.ts'
import {
  reportOf,
  lastTransition,
  applyReport,
  firstAlert,
  alertAfter,
  frozenAlert,
  acknowledgedAlert,
  judgeAll,
} from '../../../test/support/alert-transitions.ts'

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
      const once = alertAfter(severity)
      assert.deepEqual([once.weight, once.level, severityOf(once.weight)], [weight, level, severity])
      assert.equal(alertAfter(severity, severity).level, repeatedLevel)
      assert.equal(alertAfter(severity, severity, severity).level, repeatedLevel)
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
      const alert = alertAfter(level, level)
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
    const alert = firstAlert(reportOf('WARNING', 6))
    assert.deepEqual([alert.level, alert.weight, severityOf(alert.weight)], [2, 6, 'CRITICAL'])
  })

  it('recovers the alert when it is 0, whatever the level', () => {
    const alert = applyReport(alertAfter('CRITICAL'), reportOf('CRITICAL', 0), 2_000)
    assert.deepEqual([alert.status, alert.level, alert.weight], ['recovered', 5, 0])
  })

  for (const level of ['CLOSE', 5] as const) {
    it(`does not prevent ${level} from recovering the alert`, () => {
      const alert = applyReport(alertAfter('CRITICAL'), reportOf(level, 6), 2_000)
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
    ['is level 4 again after a rise from below', ['HIGH', 'HIGH', 'ERROR', 'HIGH'], 4],
    ['is level 4 after a rise from below to CRITICAL', ['HIGH', 'ERROR', 'CRITICAL', 'HIGH'], 4],
    ['is level 3 when it was reported before a CRITICAL', ['HIGH', 'CRITICAL', 'HIGH'], 3],
  ]
  for (const [title, levels, level] of CASES)
    it(title, () => assert.equal(alertAfter(...levels).level, level))

  it('is level 3 when it repeats with an explicit weight', () => {
    assert.equal(applyReport(firstAlert(reportOf('HIGH', 6)), reportOf('HIGH', 6), 2_000).level, 3)
  })

  it('keeps an internal level that was reported as a number', () => {
    assert.equal(alertAfter(4, 4).level, 4)
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
    const before = alertAfter('ERROR')
    assert.deepEqual(applyReport(before, { ...reportOf('ERROR'), ...text }, 9_000), {
      ...before,
      ...text,
      count: 2,
      reports: 2,
      lastAt: 9_000,
    })
  })

  it('whose first report is a recovery is recovered, with a count of 0', () => {
    const alert = alertAfter('CLOSE')
    assert.deepEqual(
      [alert.status, alert.count, alert.firstAt, alert.recoveredAt],
      ['recovered', 0, 1_000, 1_000],
    )
    assert.equal(applyFirstReport(reportOf('CLOSE'), 'id', { at: 1_000, actor: 'anna' }).change, 'recovered')
  })

  it('keeps the time of its recovery when the recovery is reported again', () => {
    const alert = alertAfter('ERROR', 'CLOSE', 'CLOSE')
    assert.deepEqual([alert.recoveredAt, alert.lastAt, alert.count], [2_000, 3_000, 1])
  })

  it('that fires again after a recovery continues its count', () => {
    const alert = alertAfter('ERROR', 'ERROR', 'CLOSE', 'ERROR')
    assert.deepEqual([alert.status, alert.count, alert.recoveredAt], ['firing', 3, null])
  })

  it('that was acknowledged stays acknowledged unless its weight increases', () => {
    const before = acknowledgedAlert(alertAfter('ERROR'))
    const statusAfter = (severity: Severity) => applyReport(before, reportOf(severity), 2_000).status
    assert.deepEqual((['WARNING', 'ERROR', 'HIGH', 'CLOSE'] as const).map(statusAfter), [
      'acknowledged',
      'acknowledged',
      'firing',
      'recovered',
    ])
  })

  it('that is frozen takes its reports and emits no event', () => {
    const closed = lastTransition(frozenAlert(), reportOf('CLOSE'), 12_000)
    const fired = lastTransition(closed.alert, reportOf('CRITICAL'), 13_000)
    assert.deepEqual(
      [closed.alert.status, closed.alert.weight, closed.alert.recoveredAt, closed.events],
      ['frozen', 0, 12_000, []],
    )
    assert.deepEqual(
      [fired.alert.status, fired.alert.weight, fired.alert.recoveredAt, fired.alert.count, fired.events],
      ['frozen', 6, null, 4, []],
    )
  })

  it('that is frozen can be declared recovered', () => {
    const [transition, ...rest] = applyRecovery(frozenAlert(), { at: 12_000, actor: 'anna' })
    assert.deepEqual(rest, [])
    const { alert, events, occasion } = transition as AlertTransition
    assert.deepEqual(
      [alert.status, alert.level, alert.weight, alert.recoveredAt],
      ['recovered', 5, 0, 12_000],
    )
    assert.deepEqual(events, ['unfrozen', 'recovered'])
    assert.deepEqual(occasion, { kind: 'unfrozen', swings: 4, reports: 5 })
  })
})

describe('the kind of a change', () => {
  const CASES: [before: Severity[], last: Severity, change: string][] = [
    [[], 'INFO', 'raised'],
    [['ERROR'], 'ERROR', 'repeated'],
    [['ERROR'], 'HIGH', 'risen'],
    [['HIGH'], 'ERROR', 'repeated'],
    [['ERROR'], 'CLOSE', 'recovered'],
    [['ERROR', 'CLOSE'], 'CLOSE', 'repeated'],
    [['ERROR', 'CLOSE'], 'INFO', 'raised'],
  ]
  for (const [before, last, change] of CASES) {
    it(`${last} after ${before.join(', ') || 'nothing'} is ${change}`, () => {
      const cause = { at: 9_000, actor: 'anna' }
      const transitions =
        before.length > 0
          ? applyFurtherReport(alertAfter(...before), reportOf(last), cause)
          : [applyFirstReport(reportOf(last), 'id', cause)]
      assert.deepEqual(
        transitions.map((transition) => transition.change),
        [change],
      )
    })
  }
})

describe('the history', () => {
  it('has a line for each change, with who has caused it', () => {
    const all = judgeAll(
      [0, 'ERROR'],
      [1, 'ERROR'],
      [2, 'HIGH'],
      [3, 'acknowledge'],
      [243, 'time'],
      [250, 'ERROR'],
      [251, 'CLOSE'],
    )
    assert.deepEqual(
      all.flat().flatMap(({ entry }) => (entry ? [[entry.from, entry.to, entry.weight, entry.actor]] : [])),
      [
        ['firing', 'firing', 5, 'anna'],
        ['firing', 'acknowledged', 5, 'anna'],
        ['acknowledged', 'firing', 5, 'worker'],
        ['firing', 'recovered', 0, 'anna'],
      ],
    )
    assert.deepEqual([all[0]?.[0]?.alert.createdBy, all[0]?.[0]?.alert.firstWeight], ['anna', 4])
  })
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
          firstAlert(first),
        )
        assert.equal(alert.count, reports.filter((report) => !closes(report)).length)
        const isRecovered = closes(reports.at(-1) as Report)
        if (!alert.freeze) assert.equal(alert.status, isRecovered ? 'recovered' : 'firing')
        assert.equal(alert.recoveredAt !== null, isRecovered)
        assert.equal(alert.weight === 0, isRecovered)
        assert.equal(alert.level === 5, isRecovered)
      }),
    )
  })
})
