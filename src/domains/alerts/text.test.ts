import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hasForbiddenVariable } from '../../kernel/alerts.ts'
import { alarmIdIn, sanitizeBody, sanitizeText, weightIn } from './text.ts'

describe('the weight in a body', () => {
  const CASES: [body: string, weight: number | undefined][] = [
    ['weight=6', 6],
    ['weight: 6', 6],
    ['The backup failed. Weight = 4, alarm_id=backup.failed', 4],
    ['weight=5.', 5],
    ['{"weight": 3}', 3],
    ["{'weight':'3'}", 3],
    ['备份失败 weight：2；', 2],
    ['weight=0', 0],
    ['weight=4 weight=6', 4],
    ['weight=75 kg, weight=6', 6],
    ['weight=7', undefined],
    ['weight=60', undefined],
    ['weight=-1', undefined],
    ['weight=2.5', undefined],
    ['weight=6kg', undefined],
    ['total_weight=6 overweight=6', undefined],
    ['no such thing', undefined],
    ['', undefined],
  ]
  for (const [body, weight] of CASES) {
    it(`is ${weight ?? 'missing'} in ${JSON.stringify(body)}`, () => assert.equal(weightIn(body), weight))
  }
})

describe('the alarm id in a body', () => {
  const CASES: [body: string, alarmId: string | undefined][] = [
    ['alarm_id=backup.failed', 'backup.failed'],
    ['alarm_id: backup.failed\nweight: 6', 'backup.failed'],
    ['weight=6 alarm_id=backup.failed.', 'backup.failed'],
    ['weight=6&alarm_id=a:b&x=1', 'a:b'],
    ['{"alarm_id": "backup.failed", "weight": 6}', 'backup.failed'],
    ['(alarm_id=backup-1)', 'backup-1'],
    ['alarm_id=备份，weight=6', '备份'],
    [`alarm_id=${'x'.repeat(128)}`, 'x'.repeat(128)],
    [`alarm_id=${'x'.repeat(129)}`, undefined],
    ['alarm_id=', undefined],
    ['alarm_id=...', undefined],
    ['my_alarm_id=x', undefined],
  ]
  for (const [body, alarmId] of CASES) {
    it(`is ${alarmId ?? 'missing'} in ${JSON.stringify(body)}`, () => assert.equal(alarmIdIn(body), alarmId))
  }
})

describe('a forbidden variable', () => {
  for (const text of [
    '${token}',
    'see ${password}!',
    '${TOKEN}',
    '${ Password }',
    '${\ttoken\n}',
    '$${token}',
  ]) {
    it(`is found in ${JSON.stringify(text)}`, () => assert.ok(hasForbiddenVariable(text)))
  }
  for (const text of ['token', '$token', '{token}', '${tokens}', '${backup_id}', '$ {token}', '${token']) {
    it(`is not found in ${JSON.stringify(text)}`, () => assert.ok(!hasForbiddenVariable(text)))
  }
})

describe('sanitized text', () => {
  it('is unchanged when there is nothing to remove', () => {
    assert.equal(sanitizeText('Order 1 was not paid', 256), 'Order 1 was not paid')
  })

  it('contains no forbidden variable, not even one that was hidden by a NUL', () => {
    const text = sanitizeText('${token} and ${ PASSWORD } and ${to\u0000ken}', 256)
    assert.equal(text, '**redacted** and **redacted** and **redacted**')
  })

  it('is truncated without leaving half a character', () => {
    assert.equal(sanitizeText('ab👍', 3), 'ab\ufffd')
    assert.equal(sanitizeText('abcdef', 3), 'abc')
  })

  const BODIES: [text: string, maxBytes: number, body: string][] = [
    ['abcdef', 3, 'abc'],
    ['数据库', 9, '数据库'],
    ['数据库', 8, '数据'],
    ['ab👍', 5, 'ab'],
    ['ab👍', 6, 'ab👍'],
    ['é'.repeat(3), 5, 'éé'],
    ['a\ud800b', 5, 'a\ufffdb'],
    ['a${token}', 8, 'a**redac'],
  ]
  for (const [text, maxBytes, body] of BODIES) {
    it(`is ${JSON.stringify(body)} in a body of ${maxBytes} bytes for ${JSON.stringify(text)}`, () =>
      assert.equal(sanitizeBody(text, maxBytes), body))
  }
})
