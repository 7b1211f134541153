import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  applyAcknowledgement,
  applyFirstReport,
  applyRecovery,
  applyFurtherReport,
  applyTime,
  applyUnfreeze,
  type ChangeOrigin,
  type AlertTransition,
} from './transitions.ts'
import type { Alert, AlertStatus, AlertWeight } from './model.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const ACKNOWLEDGE_FOR = 4 * HOUR

/** What a sentence of the rules says in one place, this model keeps in one list or computes anew each time. */
class SmallAlert {
  status: AlertStatus = 'recovered'
  weight: AlertWeight = 0
  count = 0
  readonly events: string[] = []
  /** Every time at which the alert swung, since they were last forgotten. */
  #swings: number[] = []
  #wasCritical = false
  #covered = 0
  #lapsesAt = Number.POSITIVE_INFINITY
  #expiresAt = Number.POSITIVE_INFINITY

  report(weight: AlertWeight, at: number): void {
    this.#endWaits(at)
    if (weight > 0) this.count++
    this.#enter(weight, at)
    this.#expiresAt = weight === 1 || weight === 2 ? at + 24 * HOUR : Number.POSITIVE_INFINITY
  }

  recover(at: number): void {
    this.#endWaits(at)
    if (this.status === 'recovered') return
    const isFrozen = this.status === 'frozen'
    if (this.weight === 6 && !isFrozen) this.#swings.push(at)
    if (isFrozen || this.#swingsOfLastHour(at) >= 4) this.#swings = []
    this.weight = 0
    this.#expiresAt = Number.POSITIVE_INFINITY
    this.#become('recovered', ...(isFrozen ? ['unfrozen', 'recovered'] : ['recovered']))
  }

  acknowledge(at: number): void {
    this.#endWaits(at)
    if (this.status !== 'firing') return
    this.#covered = this.weight
    this.#lapsesAt = at + ACKNOWLEDGE_FOR
    this.#become('acknowledged', 'acknowledged')
  }

  unfreeze(at: number): void {
    this.#endWaits(at)
    if (this.status === 'frozen') this.#unfreeze()
  }

  pass(at: number): void {
    if (this.weight > 0 && this.#expiresAt <= at) {
      this.#expiresAt = Number.POSITIVE_INFINITY
      this.#enter(0, at)
    } else this.#endWaits(at)
  }

  #endWaits(at: number): void {
    if (this.status === 'frozen' && at - (this.#swings.at(-1) ?? 0) >= HOUR) this.#unfreeze()
    else if (this.status === 'acknowledged' && this.#lapsesAt <= at) this.#become('firing', 'raised')
  }

  #enter(weight: AlertWeight, at: number): void {
    const before = this.weight
    this.weight = weight
    const swings = (before === 6 && weight === 0) || (before === 0 && weight === 6 && this.#wasCritical)
    this.#wasCritical ||= weight === 6
    if (swings) this.#swings.push(at)
    if (this.status === 'frozen') return
    if (swings && this.#swingsOfLastHour(at) >= 4) return this.#become('frozen', 'frozen')
    if (weight === 0) return this.status === 'recovered' ? undefined : this.#become('recovered', 'recovered')
    if (this.status === 'acknowledged' && weight <= this.#covered) return undefined
    const isRaised = this.status === 'acknowledged' || weight > before
    this.#become('firing', ...(isRaised ? ['raised'] : []))
  }

  #swingsOfLastHour(at: number): number {
    return this.#swings.filter((swing) => at - swing < HOUR).length
  }

  #unfreeze(): void {
    this.#swings = []
    this.#become(this.weight > 0 ? 'firing' : 'recovered', 'unfrozen')
  }

  #become(status: AlertStatus, ...events: string[]): void {
    this.status = status
    this.events.push(...events)
  }
}

type Step =
  | { readonly kind: 'report'; readonly weight: AlertWeight }
  | { readonly kind: 'recover' | 'acknowledge' | 'unfreeze' | 'pass' }
  | { readonly kind: 'wait'; readonly ms: number }

// Times at which the rules change their answer, and their neighbours.
const WAITS = [
  0,
  1,
  10 * MINUTE,
  20 * MINUTE,
  HOUR - 1,
  HOUR,
  ACKNOWLEDGE_FOR - 1,
  ACKNOWLEDGE_FOR,
  24 * HOUR,
]

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom<Step>({ kind: 'report', weight: 6 }, { kind: 'report', weight: 0 }),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom<Step>(
        ...([1, 2, 3, 4, 5] as const).map((weight) => ({ kind: 'report', weight }) as const),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom<Step>({ kind: 'recover' }, { kind: 'acknowledge' }, { kind: 'unfreeze' }),
    },
    { weight: 2, arbitrary: fc.constant<Step>({ kind: 'pass' }) },
    { weight: 4, arbitrary: fc.constantFrom(...WAITS).map((ms): Step => ({ kind: 'wait', ms })) },
  ),
  { minLength: 1, maxLength: 60 },
)

function judgeStep(
  alert: Alert,
  step: Exclude<Step, { kind: 'wait' }>,
  cause: ChangeOrigin,
): AlertTransition[] {
  switch (step.kind) {
    case 'report':
      return applyFurtherReport(alert, reportOf(step.weight), cause)
    case 'recover':
      return applyRecovery(alert, cause)
    case 'acknowledge':
      return applyAcknowledgement(alert, cause.at + ACKNOWLEDGE_FOR, null, cause)
    case 'unfreeze':
      return applyUnfreeze(alert, cause)
    case 'pass':
      return applyTime(alert, cause.at)
  }
}

function reportOf(weight: AlertWeight) {
  const texts = { alarmId: 'a', source: 's', title: 't', body: '', serverAddr: null }
  return { ...texts, weight }
}

describe('any sequence of reports, actions and waits', () => {
  it('leaves the alert and emits the events as a small model of the rules does', () => {
    fc.assert(
      fc.property(fc.constantFrom<AlertWeight>(0, 2, 4, 6), steps, (firstWeight, sequence) => {
        let at = 0
        const model = new SmallAlert()
        model.report(firstWeight, at)
        const first = applyFirstReport(reportOf(firstWeight), 'id', { at, actor: 'anna' })
        let { alert } = first
        const events: string[] = []
        model.events.length = 0
        for (const step of sequence) {
          if (step.kind === 'wait') {
            at += step.ms
            continue
          }
          if (step.kind === 'report') model.report(step.weight, at)
          else model[step.kind](at)
          const transitions = judgeStep(alert, step, { at, actor: 'anna' })
          alert = transitions.at(-1)?.alert ?? alert
          events.push(...transitions.flatMap((transition) => transition.events))
          assert.deepEqual(
            [alert.status, alert.weight, alert.count],
            [model.status, model.weight, model.count],
            `after ${JSON.stringify(step)} at ${at}`,
          )
        }
        assert.deepEqual(events, model.events)
      }),
      { numRuns: 1_000 },
    )
  })

  it('notifies of changes of the status, and never of the same change twice in a row', () => {
    const statusOf: Record<string, AlertStatus | undefined> = { raised: 'firing', recovered: 'recovered' }
    fc.assert(
      fc.property(steps, (sequence) => {
        let at = 0
        let { alert } = applyFirstReport(reportOf(6), 'id', { at, actor: 'anna' })
        for (const step of sequence) {
          if (step.kind === 'wait') at += step.ms
          else
            for (const transition of judgeStep(alert, step, { at, actor: 'anna' })) {
              const { occasion, entry } = transition
              const shown = occasion && statusOf[occasion.kind]
              if (shown && transition.alert.status !== 'frozen') assert.equal(transition.alert.status, shown)
              // Whatever the history shows was caused by the change that it was judged for.
              if (entry) assert.deepEqual([entry.from, entry.to], [alert.status, transition.alert.status])
              alert = transition.alert
            }
        }
      }),
      { numRuns: 300 },
    )
  })
})
