import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NIGHT_ALERTS } from './events.ts'
import { renderTemplate, templateProblem } from './templates.ts'
import { ALERT_VARIABLES } from './variables.ts'

test('a template may have every variable of the specification, and text', () => {
  const all = ALERT_VARIABLES.map((name) => `\${${name}}`).join(' ')
  assert.equal(templateProblem(`Night: ${all} costs $5 {really}\nsecond line`), undefined)
})

for (const [text, problem] of [
  ['${token}', /\$\{token\} or \$\{password\}, which are not allowed/],
  ['a ${password} b', /not allowed/],
  ['${ Token }', /not allowed/],
  ['${backup_idd}', /unknown variable \$\{backup_idd\}; expected one of backup_id, job_name/],
  ['${}', /unknown variable \$\{\}/],
  ['${ backup_id }', /unknown variable/],
  ['${backup_id', /without its closing brace/],
  ['${a${backup_id}', /without its closing brace/],
  ['${__proto__}', /unknown variable/],
  ['', /empty/],
  [' \n', /empty/],
  ['x'.repeat(4_097), /4096 characters/],
] as const) {
  test(`a template ${JSON.stringify(text.slice(0, 30))} is a problem`, () => {
    assert.match(templateProblem(text) ?? '', problem)
  })
}

test('the built-in texts have no problem', () => {
  for (const { title, body } of Object.values(NIGHT_ALERTS))
    assert.deepEqual([templateProblem(title), templateProblem(body)], [undefined, undefined])
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
      if (templateProblem(text) !== undefined) return
      assert.doesNotMatch(renderTemplate(text, {}), /\$\{/)
    }),
  )
})
