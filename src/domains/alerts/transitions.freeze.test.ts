import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type JudgedStep, judgeAll, changesOf } from '../../../test/support/alert-transitions.ts'

describe('the freeze rule', () => {
  const FOUR: JudgedStep[] = [
    [0, 'CRITICAL'],
    [1, 'CLOSE'],
    [2, 'CRITICAL'],
    [3, 'CLOSE'],
    [4, 'CRITICAL'],
  ]
  const last = (...steps: JudgedStep[]) => changesOf(judgeAll(...steps).at(-1) ?? [])

  const CASES: [title: string, steps: JudgedStep[], change: string][] = [
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
    const occasions = all.map((transitions) => transitions.at(-1)?.occasion)
    assert.deepEqual(occasions[4], { kind: 'frozen', swings: 4, reports: 5 })
    assert.deepEqual(occasions.at(-1), { kind: 'unfrozen', swings: 5, reports: 7 })
    assert.equal(all.at(-1)?.[0]?.entry?.note, '5 swings in 7 reports')
  })

  it('passes on what happens while the alert is frozen, for the decisions', () => {
    const all = judgeAll(...FOUR, [5, 'CLOSE'], [6, 'ERROR'], [7, 'HIGH'])
    assert.deepEqual(
      all.slice(5).map(([transition]) => [transition?.occasion?.kind, transition?.events, transition?.entry]),
      [
        ['recovered', [], null],
        ['raised', [], null],
        ['risen', [], null],
      ],
    )
  })

  it('leaves the alert in the state of its last report', () => {
    const statusOf = (...steps: JudgedStep[]) =>
      judgeAll(...FOUR, ...steps)
        .at(-1)
        ?.at(-1)?.alert.status
    assert.equal(statusOf([5, 'unfreeze']), 'firing')
    assert.equal(statusOf([5, 'CLOSE'], [6, 'unfreeze']), 'recovered')
    assert.equal(statusOf([5, 'CLOSE'], [65, 'time']), 'recovered')
  })
})
