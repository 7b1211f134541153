import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { applyAcknowledgement, applyFirstReport, applyFurtherReport, applyTime } from './transitions.ts'
import type { Alert } from './model.ts'
import {
  MINUTES,
  type JudgedStep,
  reportOf,
  alertAfter,
  frozenAlert,
  judgeAll,
  changesOf,
} from '../../../test/support/alert-transitions.ts'

describe('an acknowledgement', () => {
  const ACKNOWLEDGED: JudgedStep[] = [
    [0, 'ERROR'],
    [1, 'acknowledge'],
  ]
  const CASES: [title: string, steps: JudgedStep[], change: string][] = [
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
    assert.deepEqual(applyAcknowledgement(frozenAlert(), 1, null, { at: 6_000, actor: 'anna' }), [])
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
    const [transition] = applyAcknowledgement(alertAfter('ERROR'), 9_000, 'On it.', cause)
    assert.deepEqual(transition?.entry, {
      ...cause,
      from: 'firing',
      to: 'acknowledged',
      weight: 4,
      note: 'On it.',
      cause: null,
    })
  })
})

describe('a notice', () => {
  const DAY_MINUTES = 24 * 60
  const CASES: [title: string, steps: JudgedStep[], change: string][] = [
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
    const { alert } = applyFirstReport({ ...reportOf('CRITICAL'), expiresAt: 5_000 }, 'id', cause)
    assert.deepEqual(applyTime(alert, 4_999), [])
    const [transition] = applyTime(alert, 5_000)
    assert.deepEqual(
      [transition?.change, transition?.occasion, transition?.entry?.actor],
      ['recovered', { kind: 'recovered' }, 'worker'],
    )
    const [again] = applyFurtherReport(
      alert,
      { ...reportOf('CRITICAL'), expiresAt: 9_000 },
      { ...cause, at: 4_000 },
    )
    assert.deepEqual(applyTime(again?.alert as Alert, 8_999), [])
  })

  it('that expires while it is frozen stays frozen, and has recovered', () => {
    const expiring = { ...frozenAlert(), expiresAt: 20_000 }
    const [transition] = applyTime(expiring, 20_000)
    assert.deepEqual(
      [transition?.alert.status, transition?.alert.weight, transition?.change],
      ['frozen', 0, 'repeated'],
    )
    // The expiry was a swing.
    assert.equal(transition?.alert.freeze?.until, 20_000 + 60 * MINUTES)
  })
})
