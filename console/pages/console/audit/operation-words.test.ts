import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { language } from '../../../i18n/language.ts'
import { operationLabel } from './operation-words.ts'

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
