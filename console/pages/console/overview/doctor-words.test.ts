import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fault } from '../../../../src/app/doctor/check.ts'
import { FINDINGS, type FindingCode } from '../../../../src/app/doctor/findings.ts'
import { language } from '../../../i18n/language.ts'
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
  const newer = { ...finding, cause: { code: 'constructor' as FindingCode, values: {} } }
  assert.equal(doctorSentences(newer).detail, 'other words')
})
