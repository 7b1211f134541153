import { defineWords } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const commandWords = defineWords({
  ...PAGE_WORDS.commands,
  list: ['List of commands', '命令列表'],
  empty: [
    'There is no command that you may run. Administrators decide that on the page "Command policy".',
    '没有您可以运行的命令；由管理员在“命令策略”页面决定。',
  ],
  fields: {
    title: ['Command', '命令'],
    id: ['Id', '标识'],
    approval: ['Approval', '审批'],
    timeout_seconds: ['Time limit', '时间限制'],
    description: ['What it does', '说明'],
    reason: ['Reason', '原因'],
  },
  approvals: { none: ['Not needed', '不需要'], two_person: ['By another person', '由另一人审批'] },
  hints: { reason: ['For the person who approves it.', '供审批人参考。'] },
  pattern: [(pattern: string) => `It matches ${pattern}`, (pattern) => `须匹配 ${pattern}`],
  run: ['Run', '运行'],
  request: ['Request approval', '申请审批'],
  check: ['Check', '检查'],
  wouldRun: [(line: string) => `It would run: ${line}`, (line) => `将运行：${line}`],
  queued: ['The command is queued.', '命令已排队。'],
  awaiting: ['Another person has to approve it now.', '现在需要另一人审批。'],
  executions: ['Executions of this command', '此命令的执行记录'],
  policy: ['Who may run this command', '谁可以运行此命令'],
  policyChanged: [
    'The policy of commands has changed: you may not run this command.',
    '命令策略已更改：您无权运行此命令。',
  ],
  notListed: ['There is no such command, or you may not run it.', '命令不存在，或您无权运行。'],
})
