import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ALERT_VARIABLES, isAlertTemplate, NIGHT_ALERT_NAMES } from '../../../src/config/backup-templates.ts'
import { NIGHT_ALERTS } from './events.ts'
import { renderTemplate } from './templates.ts'

test('a template may have every variable of the specification, and text', () => {
  const all = ALERT_VARIABLES.map((name) => `\${${name}}`).join(' ')
  assert.ok(isAlertTemplate(`Night: ${all} costs $5 {really}\nsecond line`))
})

for (const text of [
  '${token}',
  'a ${password} b',
  '${ Token }',
  '${backup_idd}',
  '${}',
  '${ backup_id }',
  '${backup_id',
  '${a${backup_id}',
  '${__proto__}',
  '',
  ' \n',
  'x'.repeat(4_097),
]) {
  test(`a template ${JSON.stringify(text.slice(0, 30))} is refused`, () => {
    assert.equal(isAlertTemplate(text), false)
  })
}

test('the built-in texts could stand in the configuration, under the names of their alerts', () => {
  for (const { title, body } of Object.values(NIGHT_ALERTS))
    assert.ok(isAlertTemplate(title) && isAlertTemplate(body))
  const names = new Set<string>(Object.values(NIGHT_ALERTS).map(({ alarmId }) => alarmId))
  assert.deepEqual([...names].toSorted(), [...NIGHT_ALERT_NAMES].toSorted())
})

test('a variable without a value is a hyphen', () => {
  assert.equal(renderTemplate('${backup_id} ${error_code}', { error_code: 'no_space' }), '- no_space')
})

test('a value is one line without control characters, and is not rendered again', () => {
  const value = 'a\r\nweight=0\u0000\u001b[31m\u202e ${error_code} '
  assert.equal(
    renderTemplate('<${source_path}>', { source_path: value, error_code: 'no_space' }),
    '<a weight=0 [31m  ${error_code}>',
  )
})

test('a value has at most 512 characters, and no half of a character', () => {
  const rendered = renderTemplate('${source_path}', { source_path: '\u{1f4be}'.repeat(400) })
  assert.ok(rendered.length <= 512)
  assert.ok(rendered.isWellFormed())
})

test('a template without a problem is rendered without variables', () => {
  const part = fc.oneof(fc.constantFrom(...ALERT_VARIABLES.map((name) => `\${${name}}`)), fc.string())
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const text = parts.join('')
      if (!isAlertTemplate(text)) return
      assert.doesNotMatch(renderTemplate(text, {}), /\$\{/)
    }),
  )
})
