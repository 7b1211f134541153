import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { language } from '../../../i18n/language.ts'
import { OPERATION_NAMES, operationLabel } from './operation-words.ts'

afterEach(() => {
  language.value = 'en'
})

test('the audit trail says in words what was done: operations, what else is recorded, commands, and what it does not know', () => {
  const labels = () =>
    ['setPassword', 'pruneAudit', 'cli.user.add', 'operationOfAnotherRelease', 'toString'].map(operationLabel)
  assert.deepEqual(labels(), [
    'Set a password',
    'Delete old rows of the audit trail',
    'Run: platform user add',
    'operationOfAnotherRelease',
    'toString',
  ])
  language.value = 'zh'
  assert.deepEqual(labels().slice(0, 3), ['设置密码', '删除旧的审计记录', '运行：platform user add'])
})

test('each operation that the trail has in addition to those of the API can be chosen; commands are not one', () => {
  assert.deepEqual(OPERATION_NAMES.slice(0, 4), ['signIn', 'start', 'disableWebhook', 'pruneAudit'])
  assert.ok(!OPERATION_NAMES.includes('command'))
})
