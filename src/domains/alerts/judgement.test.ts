import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  judgeAcknowledgement,
  judgeFirst,
  judgeRecovery,
  judgeReport,
  judgeTime,
  judgeUnfreeze,
  type Judgement,
} from './judgement.ts'
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

function judge(alert: Alert, report: Report, at: number): Judgement {
  return judgeReport(alert, report, { at, actor: 'anna' }).at(-1) as Judgement
}

function applyReport(alert: Alert, report: Report, at: number): Alert {
  return judge(alert, report, at).alert
}

function fresh(report: Report): Alert {
  return judgeFirst(report, 'id', { at: 1_000, actor: 'anna' }).alert
}

function after(...levels: (Severity | AlertLevel)[]): Alert {
  const [first, ...rest] = levels.map((level) => reportOf(level)) as [Report, ...Report[]]
  return rest.reduce<Alert>((alert, report) => applyReport(alert, report, alert.lastAt + 1_000), fresh(first))
}

function frozen(): Alert {
  return after('CRITICAL', 'CLOSE', 'CRITICAL', 'CLOSE', 'CRITICAL')
}

function acknowledged(alert: Alert): Alert {
  return { ...alert, status: 'acknowledged', acknowledgedWeight: alert.weight, acknowledgedUntil: 100_000 }
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
    ['is level 4 again after a rise from below', ['HIGH', 'HIGH', 'ERROR', 'HIGH'], 4],
    ['is level 4 after a rise from below to CRITICAL', ['HIGH', 'ERROR', 'CRITICAL', 'HIGH'], 4],
    ['is level 3 when it was reported before a CRITICAL', ['HIGH', 'CRITICAL', 'HIGH'], 3],
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
      reports: 2,
      lastAt: 9_000,
    })
  })

  it('whose first report is a recovery is recovered, with a count of 0', () => {
    const alert = after('CLOSE')
    assert.deepEqual(
      [alert.status, alert.count, alert.firstAt, alert.recoveredAt],
      ['recovered', 0, 1_000, 1_000],
    )
    assert.equal(judgeFirst(reportOf('CLOSE'), 'id', { at: 1_000, actor: 'anna' }).change, 'recovered')
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
    const before = acknowledged(after('ERROR'))
    const statusAfter = (severity: Severity) => applyReport(before, reportOf(severity), 2_000).status
    assert.deepEqual((['WARNING', 'ERROR', 'HIGH', 'CLOSE'] as const).map(statusAfter), [
      'acknowledged',
      'acknowledged',
      'firing',
      'recovered',
    ])
  })

  it('that is frozen takes its reports and emits no event', () => {
    const closed = judge(frozen(), reportOf('CLOSE'), 12_000)
    const fired = judge(closed.alert, reportOf('CRITICAL'), 13_000)
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
    const [judgement, ...rest] = judgeRecovery(frozen(), { at: 12_000, actor: 'anna' })
    assert.deepEqual(rest, [])
    const { alert, events, occasion } = judgement as Judgement
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
      const judgements =
        before.length > 0
          ? judgeReport(after(...before), reportOf(last), cause)
          : [judgeFirst(reportOf(last), 'id', cause)]
      assert.deepEqual(
        judgements.map((judgement) => judgement.change),
        [change],
      )
    })
  }
})

const MINUTES = 60_000

/** A report or an action, and how many minutes after the first one it comes. */
type Step = readonly [minute: number, what: Severity | 'by hand' | 'unfreeze' | 'acknowledge' | 'time']

function judgeStep(alert: Alert | undefined, [minute, what]: Step): Judgement[] {
  const cause = { at: minute * MINUTES, actor: 'anna' }
  if (!alert) return [judgeFirst(reportOf(what as Severity), 'id', cause)]
  if (what === 'by hand') return judgeRecovery(alert, cause)
  if (what === 'unfreeze') return judgeUnfreeze(alert, cause)
  if (what === 'acknowledge')
    return judgeAcknowledgement(alert, { until: cause.at + 240 * MINUTES, comment: null }, cause)
  return what === 'time' ? judgeTime(alert, cause.at) : judgeReport(alert, reportOf(what), cause)
}

/** The judgements of each step. */
function judgeAll(...steps: readonly Step[]): Judgement[][] {
  let alert: Alert | undefined
  return steps.map((step) => {
    const judgements = judgeStep(alert, step)
    alert = judgements.at(-1)?.alert ?? alert
    return judgements
  })
}

const changesOf = (judgements: readonly Judgement[]) => judgements.map(({ change }) => change).join(', ')

describe('the freeze rule', () => {
  const FOUR: Step[] = [
    [0, 'CRITICAL'],
    [1, 'CLOSE'],
    [2, 'CRITICAL'],
    [3, 'CLOSE'],
    [4, 'CRITICAL'],
  ]
  const last = (...steps: Step[]) => changesOf(judgeAll(...steps).at(-1) ?? [])

  const CASES: [title: string, steps: Step[], change: string][] = [
    ['freezes at the fourth swing', FOUR, 'frozen'],
    ['does not count the first CRITICAL', FOUR.slice(0, 4), 'recovered'],
    [
      'does not count the first CRITICAL behind a recovery or another weight either',
      [
        [0, 'CLOSE'],
        [1, 'CRITICAL'],
        [2, 'CLOSE'],
        [3, 'CRITICAL'],
        [4, 'CLOSE'],
      ],
      'recovered',
    ],
    [
      'counts recoveries by hand',
      [
        [0, 'CRITICAL'],
        [1, 'by hand'],
        [2, 'CRITICAL'],
        [3, 'by hand'],
        [4, 'CRITICAL'],
      ],
      'frozen',
    ],
    [
      'counts repeated reports of a state once',
      [
        [0, 'CRITICAL'],
        [0, 'CRITICAL'],
        [1, 'CLOSE'],
        [1, 'CLOSE'],
        [2, 'CRITICAL'],
        [3, 'CLOSE'],
      ],
      'recovered',
    ],
    [
      'does not count a pair with another weight between',
      [
        [0, 'CRITICAL'],
        [1, 'CLOSE'],
        [2, 'CRITICAL'],
        [3, 'CLOSE'],
        [4, 'ERROR'],
        [5, 'CRITICAL'],
      ],
      'risen',
    ],
    [
      'counts a swing within one hour of the first',
      [
        [0, 'CRITICAL'],
        [1, 'CLOSE'],
        [2, 'CRITICAL'],
        [3, 'CLOSE'],
        [60.999, 'CRITICAL'],
      ],
      'frozen',
    ],
    [
      'does not count a swing that is exactly an hour old',
      [
        [0, 'CRITICAL'],
        [1, 'CLOSE'],
        [2, 'CRITICAL'],
        [3, 'CLOSE'],
        [61, 'CRITICAL'],
      ],
      'raised',
    ],
    ['ends after an hour without a swing', [...FOUR, [64, 'time']], 'unfrozen'],
    ['does not end sooner', [...FOUR, [63.999, 'time']], ''],
    ['is prolonged by a swing', [...FOUR, [50, 'CLOSE'], [64, 'time']], ''],
    ['ends an hour after the swing that prolonged it', [...FOUR, [50, 'CLOSE'], [110, 'time']], 'unfrozen'],
    ['is not prolonged by other changes', [...FOUR, [50, 'ERROR'], [60, 'CLOSE'], [64, 'time']], 'unfrozen'],
    [
      'ends before a report that comes later, without the job',
      [...FOUR, [64, 'CLOSE']],
      'unfrozen, recovered',
    ],
    ['ends when the alert is unfrozen', [...FOUR, [5, 'unfreeze']], 'unfrozen'],
    ['ends when the alert is declared recovered', [...FOUR, [5, 'by hand']], 'recovered'],
    [
      'does nothing to an alert that is not frozen',
      [
        [0, 'CRITICAL'],
        [5, 'unfreeze'],
      ],
      '',
    ],
    [
      'forgets the swings when the alert is unfrozen',
      [...FOUR, [5, 'unfreeze'], [6, 'CLOSE'], [7, 'CRITICAL'], [8, 'CLOSE']],
      'recovered',
    ],
    [
      'forgets the swings when the alert is declared recovered',
      [...FOUR, [5, 'by hand'], [6, 'CRITICAL'], [7, 'CLOSE'], [8, 'CRITICAL']],
      'raised',
    ],
    [
      'does not freeze an alert that is declared recovered',
      [
        [0, 'CRITICAL'],
        [0, 'ERROR'],
        [0, 'CLOSE'],
        [1, 'CRITICAL'],
        [2, 'CLOSE'],
        [3, 'CRITICAL'],
        [4, 'by hand'],
      ],
      'recovered',
    ],
  ]
  for (const [title, steps, change] of CASES) it(title, () => assert.equal(last(...steps), change))

  it('passes on how many swings and reports there were', () => {
    const all = judgeAll(...FOUR, [5, 'CRITICAL'], [6, 'CLOSE'], [66, 'time'])
    const occasions = all.map((judgements) => judgements.at(-1)?.occasion)
    assert.deepEqual(occasions[4], { kind: 'frozen', swings: 4, reports: 5 })
    assert.deepEqual(occasions.at(-1), { kind: 'unfrozen', swings: 5, reports: 7 })
    assert.equal(all.at(-1)?.[0]?.entry?.note, '5 swings in 7 reports')
  })

  it('passes on what happens while the alert is frozen, for the decisions', () => {
    const all = judgeAll(...FOUR, [5, 'CLOSE'], [6, 'ERROR'], [7, 'HIGH'])
    assert.deepEqual(
      all.slice(5).map(([judgement]) => [judgement?.occasion?.kind, judgement?.events, judgement?.entry]),
      [
        ['recovered', [], null],
        ['raised', [], null],
        ['risen', [], null],
      ],
    )
  })

  it('leaves the alert in the state of its last report', () => {
    const statusOf = (...steps: Step[]) =>
      judgeAll(...FOUR, ...steps)
        .at(-1)
        ?.at(-1)?.alert.status
    assert.equal(statusOf([5, 'unfreeze']), 'firing')
    assert.equal(statusOf([5, 'CLOSE'], [6, 'unfreeze']), 'recovered')
    assert.equal(statusOf([5, 'CLOSE'], [65, 'time']), 'recovered')
  })
})

describe('an acknowledgement', () => {
  const ACKNOWLEDGED: Step[] = [
    [0, 'ERROR'],
    [1, 'acknowledge'],
  ]
  const CASES: [title: string, steps: Step[], change: string][] = [
    ['of a firing alert', [], 'acknowledged'],
    ['does nothing when it is repeated', [[2, 'acknowledge']], ''],
    ['covers the same weight', [[2, 'ERROR']], 'repeated'],
    [
      'covers a lower weight, and the way back',
      [
        [2, 'WARNING'],
        [3, 'ERROR'],
      ],
      'repeated',
    ],
    ['does not cover a higher weight', [[2, 'HIGH']], 'risen'],
    [
      'does not cover a higher weight behind a lower one',
      [
        [2, 'WARNING'],
        [3, 'HIGH'],
      ],
      'risen',
    ],
    ['ends with a recovery', [[2, 'CLOSE']], 'recovered'],
    [
      'is forgotten by a recovery',
      [
        [2, 'CLOSE'],
        [3, 'ERROR'],
      ],
      'raised',
    ],
    ['lasts until its time is over', [[240.999, 'time']], ''],
    ['lapses when its time is over', [[241, 'time']], 'lapsed'],
    ['lapses before a report that comes later, without the job', [[241, 'ERROR']], 'lapsed, repeated'],
    ['can be renewed after it has lapsed', [[241, 'acknowledge']], 'lapsed, acknowledged'],
  ]
  for (const [title, steps, change] of CASES)
    it(title, () => assert.equal(changesOf(judgeAll(...ACKNOWLEDGED, ...steps).at(-1) ?? []), change))

  it('of an alert that does not fire does nothing', () => {
    assert.equal(changesOf(judgeAll([0, 'CLOSE'], [1, 'acknowledge']).at(-1) ?? []), '')
    assert.deepEqual(
      judgeAcknowledgement(frozen(), { until: 1, comment: null }, { at: 6_000, actor: 'anna' }),
      [],
    )
  })

  it('passes on a rise that it covers, for the decisions', () => {
    const [rise] = judgeAll(...ACKNOWLEDGED, [2, 'WARNING'], [3, 'ERROR']).at(-1) ?? []
    assert.deepEqual(
      [rise?.alert.status, rise?.occasion, rise?.events],
      ['acknowledged', { kind: 'risen' }, []],
    )
  })

  it('writes its comment to the history', () => {
    const cause = { at: 2_000, actor: 'anna' }
    const [judgement] = judgeAcknowledgement(after('ERROR'), { until: 9_000, comment: 'On it.' }, cause)
    assert.deepEqual(judgement?.entry, {
      ...cause,
      from: 'firing',
      to: 'acknowledged',
      weight: 4,
      note: 'On it.',
    })
  })
})

describe('a notice', () => {
  const DAY_MINUTES = 24 * 60
  const CASES: [title: string, steps: Step[], change: string][] = [
    [
      'recovers 24 hours after its last report',
      [
        [0, 'INFO'],
        [60, 'INFO'],
        [DAY_MINUTES + 60, 'time'],
      ],
      'recovered',
    ],
    [
      'does not recover sooner',
      [
        [0, 'INFO'],
        [60, 'INFO'],
        [DAY_MINUTES + 59, 'time'],
      ],
      '',
    ],
    [
      'that becomes a warning does not recover',
      [
        [0, 'INFO'],
        [60, 'WARNING'],
        [3 * DAY_MINUTES, 'time'],
      ],
      '',
    ],
    [
      'that was a warning recovers',
      [
        [0, 'WARNING'],
        [60, 'INFO'],
        [DAY_MINUTES + 60, 'time'],
      ],
      'recovered',
    ],
    [
      'is not recovered by time before a report is judged',
      [
        [0, 'INFO'],
        [DAY_MINUTES + 60, 'INFO'],
      ],
      'repeated',
    ],
  ]
  for (const [title, steps, change] of CASES)
    it(title, () => assert.equal(changesOf(judgeAll(...steps).at(-1) ?? []), change))

  it('may have a time of its own, as any alert may', () => {
    const cause = { at: 1_000, actor: 'anna' }
    const { alert } = judgeFirst({ ...reportOf('CRITICAL'), expiresAt: 5_000 }, 'id', cause)
    assert.deepEqual(judgeTime(alert, 4_999), [])
    const [judgement] = judgeTime(alert, 5_000)
    assert.deepEqual(
      [judgement?.change, judgement?.occasion, judgement?.entry?.actor],
      ['recovered', { kind: 'recovered' }, 'worker'],
    )
    const [again] = judgeReport(alert, { ...reportOf('CRITICAL'), expiresAt: 9_000 }, { ...cause, at: 4_000 })
    assert.deepEqual(judgeTime(again?.alert as Alert, 8_999), [])
  })

  it('that expires while it is frozen stays frozen, and has recovered', () => {
    const expiring = { ...frozen(), expiresAt: 20_000 }
    const [judgement] = judgeTime(expiring, 20_000)
    assert.deepEqual(
      [judgement?.alert.status, judgement?.alert.weight, judgement?.change],
      ['frozen', 0, 'repeated'],
    )
    // The expiry was a swing.
    assert.equal(judgement?.alert.freeze?.until, 20_000 + 60 * MINUTES)
  })
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
          fresh(first),
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
