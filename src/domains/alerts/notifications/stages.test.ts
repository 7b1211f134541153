import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decide, STAGES, type Facts } from './stages.ts'
import type { AlertWeight } from '../model.ts'
import type { Outcome, NotifiedState, NotifiedStatus } from './model.ts'

const FIRING: Facts = {
  occasion: 'raised',
  alert: { weight: 5, status: 'firing' },
  textHash: 'texts',
  route: { name: 'default', minWeight: 3 },
  silencedBy: undefined,
  inhibitedBy: undefined,
  notified: undefined,
  heldBack: undefined,
}
const SILENCE = { id: 's-1', reason: 'maintenance' }
const INHIBITOR = { id: 'a-1', alarmId: 'backup.failed.critical' }
const RECOVERED = { occasion: 'recovered', alert: { weight: 0, status: 'recovered' } } as const
const UNFROZEN = { occasion: 'unfrozen', alert: { weight: 0, status: 'recovered' } } as const
/** The receiver was notified that the alert fires with that weight, or ended. */
const notified = (weight: AlertWeight, status: NotifiedStatus = weight === 0 ? 'recovered' : 'firing') => ({
  notified: { weight, status, textHash: 'texts' } as NotifiedState,
})
const heldBack = (outcome: Outcome, reason: string | null = null) => ({
  heldBack: { outcome, reason, cause: null },
})

type Case = readonly [what: string, facts: Partial<Facts>, outcome: Outcome | 'none', reason?: RegExp]

const CASES: readonly Case[] = [
  ['a new alert is pushed', {}, 'pending'],
  ['one with the least severity is pushed', { alert: { weight: 3, status: 'firing' } }, 'pending'],
  ['a rise of a pushed alert is pushed', { occasion: 'risen', ...notified(4) }, 'pending'],
  ['an alert that needs a person is pushed again', { occasion: 'repeated', ...notified(4) }, 'pending'],
  [
    'no repetition of a silenced alert is pushed',
    { occasion: 'repeated', ...notified(4), silencedBy: SILENCE },
    'silenced',
  ],
  [
    'no repetition of an inhibited alert is pushed',
    { occasion: 'repeated', ...notified(4), inhibitedBy: INHIBITOR },
    'inhibited',
  ],
  ['a lapsed acknowledgement is pushed', { occasion: 'acknowledgement_lapsed', ...notified(4) }, 'pending'],
  [
    'an alert below the severity is not pushed',
    { alert: { weight: 2, status: 'firing' } },
    'below_level',
    /INFO is below WARNING/,
  ],
  [
    'the severity comes before the inhibition',
    { alert: { weight: 2, status: 'firing' }, inhibitedBy: INHIBITOR },
    'below_level',
  ],
  [
    'an inhibited alert is not pushed',
    { inhibitedBy: INHIBITOR },
    'inhibited',
    /a-1 \(backup\.failed\.critical\)/,
  ],
  ['the inhibition comes before the silence', { inhibitedBy: INHIBITOR, silencedBy: SILENCE }, 'inhibited'],
  ['a silenced alert is not pushed', { silencedBy: SILENCE }, 'silenced', /s-1: maintenance/],
  [
    'the silence comes before the acknowledgement',
    { silencedBy: SILENCE, alert: { weight: 5, status: 'acknowledged' } },
    'silenced',
  ],
  [
    'a rise of an acknowledged alert is not pushed',
    { occasion: 'risen', alert: { weight: 5, status: 'acknowledged' } },
    'acknowledged',
  ],
  ['a change of a quiet alert is not pushed', { isQuiet: true }, 'damped'],
  ['the message that says that it is quiet is pushed', { occasion: 'damped', isQuiet: true }, 'pending'],
  [
    'the digest is pushed to those who know that it was quiet, also when the alert has recovered',
    { ...RECOVERED, occasion: 'undamped', ...notified(4, 'damped') },
    'pending',
  ],
  [
    'an escalation is no news for those who know the alert',
    { occasion: 'escalated', ...notified(5) },
    'none',
  ],
  ['an escalation is pushed to others', { occasion: 'escalated' }, 'pending'],
  ['a frozen alert is not pushed', { alert: { weight: 6, status: 'frozen' } }, 'frozen'],
  [
    'the recovery of a frozen alert is not pushed',
    { occasion: 'recovered', alert: { weight: 0, status: 'frozen' }, ...notified(4) },
    'frozen',
  ],
  ['the freeze itself is pushed', { occasion: 'frozen', alert: { weight: 0, status: 'frozen' } }, 'pending'],
  [
    'its end is pushed while the alert fires',
    { occasion: 'unfrozen', ...heldBack('silenced', 'Silenced by s-1: maintenance') },
    'pending',
  ],
  ['its end with a recovery is pushed if anything was pushed', { ...UNFROZEN, ...notified(4) }, 'pending'],
  [
    'its end with a recovery is pushed even if the alert is silenced and inhibited by then',
    { ...UNFROZEN, ...notified(4), silencedBy: SILENCE, inhibitedBy: INHIBITOR },
    'pending',
  ],
  [
    'its end with a recovery is not pushed if nothing was pushed, for the same reason',
    { ...UNFROZEN, ...heldBack('silenced', 'Silenced by s-1: maintenance') },
    'silenced',
    /never pushed\. Silenced by s-1: maintenance$/,
  ],
  [
    'its end while the alert fires is not pushed if a silence matches',
    { occasion: 'unfrozen', ...notified(4), silencedBy: SILENCE },
    'silenced',
  ],
  [
    'the freeze of a silenced alert is not pushed',
    { occasion: 'frozen', alert: { weight: 6, status: 'frozen' }, silencedBy: SILENCE },
    'silenced',
  ],
  ['the recovery of a sent alert is pushed', { ...RECOVERED, ...notified(4) }, 'pending'],
  ['the recovery of a bundled alert is pushed', { ...RECOVERED, ...notified(4) }, 'pending'],
  ['the recovery of a pending alert is pushed', { ...RECOVERED, ...notified(4) }, 'pending'],
  [
    'the recovery of an alert that was pushed before its silence is pushed',
    { ...RECOVERED, ...notified(4), silencedBy: SILENCE },
    'pending',
  ],
  [
    'the recovery of an alert that was pushed before its inhibition is pushed',
    { ...RECOVERED, ...notified(4), inhibitedBy: INHIBITOR },
    'pending',
  ],
  [
    'the recovery of an alert that was silenced is not pushed, for the same reason',
    { ...RECOVERED, ...heldBack('silenced', 'Silenced by s-1: maintenance') },
    'silenced',
    /never pushed\. Silenced by s-1: maintenance$/,
  ],
  [
    'the recovery of an alert below the severity is not pushed',
    { ...RECOVERED, ...heldBack('below_level', 'INFO is below WARNING.') },
    'below_level',
  ],
  [
    'the recovery of an alert without any decision is not pushed',
    RECOVERED,
    'disabled',
    /^The alert was never pushed\.$/,
  ],
  [
    'the end of a silence pushes an alert that was never pushed',
    { occasion: 'silence_ended', ...heldBack('silenced') },
    'pending',
  ],
  [
    'the end of an inhibition pushes an alert that was never pushed',
    { occasion: 'inhibition_ended', ...heldBack('inhibited') },
    'pending',
  ],
  [
    'the end of one of two silences pushes nothing',
    { occasion: 'silence_ended', ...heldBack('silenced'), silencedBy: SILENCE },
    'silenced',
  ],
  [
    'the end of a silence is no occasion for an alert that is as it was told',
    { occasion: 'silence_ended', ...notified(5) },
    'none',
  ],
  ['the end of a silence does not push a fall', { occasion: 'silence_ended', ...notified(6) }, 'none'],
  [
    'the end of a silence pushes a rise over what was told',
    { occasion: 'silence_ended', ...notified(4) },
    'pending',
  ],
  [
    'the end of a silence pushes an alert that fires again after an end that was told',
    { occasion: 'silence_ended', ...notified(0) },
    'pending',
  ],
  [
    'the end of an inhibition pushes an alert whose freeze was told last',
    { occasion: 'inhibition_ended', ...notified(6, 'frozen') },
    'pending',
  ],
  [
    'the end of a silence pushes texts that differ from those that were told, even after a fall',
    { occasion: 'silence_ended', ...notified(6), textHash: 'others' },
    'pending',
  ],
  [
    'the end of an inhibition pushes texts that differ from those that were told',
    { occasion: 'inhibition_ended', ...notified(5), textHash: 'others' },
    'pending',
  ],
  [
    'what an older program has told counts as told with these texts',
    { occasion: 'silence_ended', notified: { weight: 5, status: 'firing', textHash: null } },
    'none',
  ],
  [
    'other texts alone are not pushed when nothing has ended',
    { occasion: 'risen', ...notified(5), textHash: 'others' },
    'none',
  ],
  ['a rise back to what was told is not pushed', { occasion: 'risen', ...notified(5) }, 'none'],
  [
    'an alert that fires again before its end was told is not pushed',
    { occasion: 'raised', ...notified(5) },
    'none',
  ],
  [
    'the end of an acknowledgement is pushed even if nothing differs',
    { occasion: 'acknowledgement_lapsed', ...notified(6) },
    'pending',
  ],
  [
    'the recovery of an alert whose end was told is not pushed again',
    { ...RECOVERED, ...notified(0), ...heldBack('silenced') },
    'silenced',
  ],
  [
    'the end of a silence is no occasion for an alert that has recovered',
    { occasion: 'silence_ended', alert: { weight: 0, status: 'recovered' } },
    'none',
  ],
  [
    'the end of a silence leaves an acknowledged alert alone',
    { occasion: 'silence_ended', alert: { weight: 5, status: 'acknowledged' }, ...heldBack('silenced') },
    'acknowledged',
  ],
]

for (const [what, facts, outcome, reason] of CASES) {
  test(what, () => {
    const decided = decide({ ...FIRING, ...facts })
    assert.equal(decided?.outcome ?? 'none', outcome)
    if (reason) assert.match(decided?.reason ?? '', reason)
    assert.equal(outcome === 'pending' || outcome === 'none', typeof decided?.reason !== 'string')
    assert.equal(decided?.reason === null, decided?.cause === null, 'each reason has a code')
  })
}

test('each stage has a case in which it decides', () => {
  const deciding = CASES.map(([, facts]) => STAGES.find((stage) => stage({ ...FIRING, ...facts })))
  for (const stage of STAGES) assert.ok(deciding.includes(stage), stage.name)
})

test('a program reads what a reason says from its code and values, also that of an end that was not pushed', () => {
  const silenced = decide({ ...FIRING, silencedBy: SILENCE })
  const cause = { code: 'silenced', values: { silence: 's-1', reason: 'maintenance' } }
  assert.deepEqual(silenced?.cause, cause)
  assert.deepEqual(decide({ ...FIRING, ...RECOVERED, heldBack: silenced })?.cause, {
    code: 'never_pushed',
    values: { because: 'silenced', ...cause.values },
  })
})
