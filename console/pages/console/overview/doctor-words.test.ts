import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '../../../../src/app/doctor/check.ts'
import { FINDINGS, type FindingCode } from '../../../../src/app/doctor/findings.ts'
import { FOUND_ELSEWHERE } from '../../../../src/app/doctor/checks/notifications.ts'
import { DECLARED_ALERTS } from '../../../../src/app/domains.ts'
import { RECOGNITION_REMEDIES } from '../../../../programs/backup/host/platform-reader.ts'
import { TIMER_REMEDIES } from '../../../../programs/backup/install/timer-faults.ts'
import { POSTGRES_REMEDIES } from '../../../../src/store/dialects/postgres-failure.ts'
import { language } from '../../../i18n/language.ts'
import { localTime } from '../../../i18n/local.ts'
import { DOCTOR_FINDINGS_ZH } from './doctor-findings-zh.ts'
import { doctorSentences, loadChineseFindings } from './doctor-words.ts'

const namesIn = ({ detail, remedy }: { readonly detail: string; readonly remedy: string }) =>
  [...`${detail} ${remedy}`.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)

test('each finding of the doctor has Chinese words, which name only values that it has', () => {
  assert.deepEqual(Object.keys(DOCTOR_FINDINGS_ZH).toSorted(), Object.keys(FINDINGS).toSorted())
  for (const [code, words] of Object.entries(DOCTOR_FINDINGS_ZH)) {
    assert.match(words.detail, /\p{Script=Han}|^\{\w+\}/u, code)
    const names = namesIn(FINDINGS[code as FindingCode])
    assert.deepEqual([...new Set(namesIn(words)).difference(new Set(names))], [], code)
  }
})

test('a finding is in the language of the reader, by its code, whatever the platform says', async (t) => {
  const { cause = null } = fault('messages', 'messages_dead', { count: 1_200 })
  const finding = { detail: 'other words', remedy: 'and others', cause }
  assert.equal(doctorSentences(finding).detail, 'other words')
  language.value = 'zh'
  t.after(() => (language.value = 'en'))
  assert.equal(doctorSentences(finding).detail, 'other words')
  await loadChineseFindings()
  const { subject, detail } = doctorSentences(finding)
  assert.deepEqual([subject, detail], ['无法投递的消息', '1,200 条被永久拒绝'])
  const late = fault('nightly backup', 'night_late', { at: '2026-01-31T02:00:00.000Z' })
  const said = doctorSentences({ detail: '', remedy: '', cause: late.cause ?? null }).detail
  assert.equal(said, `上次成功于 ${localTime('2026-01-31T02:00:00Z')}`)
  const run = fault('messages', 'bus_lost', {
    at: '2026-01-31T02:00:00Z',
    command: 'replay --since 2026-01-31T02:00:00Z',
  })
  const { remedy } = doctorSentences({ detail: '', remedy: '', cause: run.cause ?? null })
  assert.match(String(remedy), /replay --since 2026-01-31T02:00:00Z$/)
  const newer = { ...finding, cause: { code: 'constructor' as FindingCode, values: {} } }
  assert.equal(doctorSentences(newer).detail, 'other words')
})

test('each remedy that depends on a value has Chinese words by its code', async (t) => {
  const ofAlerts = Object.keys(DECLARED_ALERTS).filter(
    (id) => DECLARED_ALERTS[id]?.repeatEveryMs !== undefined && !FOUND_ELSEWHERE.test(id),
  )
  const { refused: _, ...ofUnheard } = RECOGNITION_REMEDIES
  const codes = {
    alert_open: ofAlerts,
    server_unreachable: Object.keys(POSTGRES_REMEDIES),
    night_timer_elsewhere: Object.keys(TIMER_REMEDIES),
    night_unheard: Object.keys(ofUnheard),
  }
  await loadChineseFindings()
  language.value = 'zh'
  t.after(() => (language.value = 'en'))
  for (const [code, remedies] of Object.entries(codes)) {
    assert.deepEqual(
      Object.keys(DOCTOR_FINDINGS_ZH[code as FindingCode].remedies ?? {}).toSorted(),
      remedies.toSorted(),
    )
    for (const remedyCode of remedies) {
      const values = { remedy: 'in English', remedyCode, files: ['a.conf'] }
      const { remedy } = doctorSentences(fault('it', code as FindingCode, values) as never)
      assert.match(String(remedy), /^[^{}]*\p{Script=Han}[^]*$/u, remedyCode)
      assert.doesNotMatch(String(remedy), /in English/, remedyCode)
    }
  }
})
