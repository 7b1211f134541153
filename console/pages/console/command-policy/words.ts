import type { AnswerOf } from '../../../api/operations.ts'
import { defineWords } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

type AccessRule = AnswerOf<'explainCommandAccess'>['rule']

export const commandPolicyWords = defineWords({
  en: {
    ...PAGE_WORDS.en['command-policy'],
    list: 'Who may run which command',
    empty: 'There is no command with a rule.',
    noMatch: '',
    about:
      'A command without a rule is for administrators only. A change takes effect at once. “As the command says”: the rule does not set the approval, so that of the command counts: the configuration for a program, none for a built-in command.',
    views: { label: 'View of the policy', rules: 'Rules', history: 'History' },
    fields: {
      id: 'Command',
      roles: 'May run it',
      approvers: 'May approve it',
      approval: 'Approval',
      user_id: 'User',
    },
    hints: {
      roles: 'Without a role nobody may run it.',
      approvers: 'Without a role nobody may approve a request.',
      approval:
        'A program has the approval of the configuration, a built-in command has none. The rule can set another one.',
      user_id: 'The id of a user',
    },
    nobody: 'Nobody',
    asCommand: 'As the command says',
    approvedBy: (roles: string) => `approved by ${roles}`,
    noRule: 'No rule',
    hasNoRule: 'It has no rule, so only administrators may run it.',
    createRule: 'Set a rule',
    editRule: 'Edit the rule',
    save: 'Save the rule',
    saved: 'The policy is changed.',
    remove: 'Remove the rule',
    removeTitle: (id: string) => `Remove the rule of ${id}?`,
    removeText: 'Then only administrators may run the command.',
    isMissing: 'Does not exist',
    missing: (ids: string) =>
      `There are rules for commands that do not exist: ${ids}. The next change of the policy removes these rules.`,
    access: 'May a user run it?',
    explain: 'Check',
    allowed: 'Allowed',
    notAllowed: 'Not allowed',
    disabled: 'The user is disabled.',
    because: (rule: AccessRule, own: readonly string[]) => {
      const allows = rule
        ? `The rule of revision ${rule.revision} allows ${rule.roles.join(', ') || 'no role'}`
        : 'There is no rule for this command, so only admin may run it'
      return `${allows}; the user has ${own.join(', ') || 'no role'}.`
    },
    executions: 'Executions of this command',
    notListed: 'There is no such command, or it has no rule.',
    revision: (revision: string) => `Revision ${revision}`,
    by: (actor: string) => `by ${actor}`,
    change: (id: string, from: string, to: string) => `${id}: ${from} → ${to}`,
    sameRules: 'The rules stayed the same.',
    noHistory: 'The policy was never changed.',
    older: (count: string) => `These are the latest ${count} changes. The API lists the older ones.`,
  },
  zh: {
    ...PAGE_WORDS.zh['command-policy'],
    list: '谁可以运行哪个命令',
    empty: '没有设置规则的命令。',
    noMatch: '',
    about:
      '没有规则的命令仅限管理员运行。更改立即生效。“按命令自身的设定”：规则未设置审批，因此以命令为准——程序取自配置，内置命令则无需审批。',
    views: { label: '策略视图', rules: '规则', history: '历史记录' },
    fields: {
      id: '命令',
      roles: '可运行',
      approvers: '可审批',
      approval: '审批',
      user_id: '用户',
    },
    hints: {
      roles: '不选角色则无人可以运行。',
      approvers: '不选角色则无人可以审批。',
      approval: '程序的审批取自配置，内置命令无需审批；规则可另行设定。',
      user_id: '用户的标识',
    },
    nobody: '无人',
    asCommand: '按命令自身的设定',
    approvedBy: (roles) => `审批：${roles}`,
    noRule: '无规则',
    hasNoRule: '没有规则，仅管理员可以运行。',
    createRule: '设置规则',
    editRule: '编辑规则',
    save: '保存规则',
    saved: '策略已更改。',
    remove: '移除规则',
    removeTitle: (id) => `要移除 ${id} 的规则吗？`,
    removeText: '之后仅管理员可以运行此命令。',
    isMissing: '不存在',
    missing: (ids) => `以下命令不存在但有规则：${ids}。下次更改策略时会一并移除这些规则。`,
    access: '某个用户可以运行吗？',
    explain: '检查',
    allowed: '允许',
    notAllowed: '不允许',
    disabled: '该用户已停用。',
    because: (rule, own) => {
      const allows = rule
        ? `修订版 ${rule.revision} 的规则${rule.roles.length > 0 ? `允许 ${rule.roles.join(', ')}` : '不允许任何角色'}`
        : '此命令没有规则，因此只有 admin 可以运行'
      return `${allows}；${own.length > 0 ? `该用户拥有 ${own.join(', ')}` : '该用户没有角色'}。`
    },
    executions: '此命令的执行记录',
    notListed: '命令不存在，或没有规则。',
    revision: (revision) => `版本 ${revision}`,
    by: (actor) => `操作者：${actor}`,
    change: (id, from, to) => `${id}：${from} → ${to}`,
    sameRules: '规则没有变化。',
    noHistory: '策略从未更改过。',
    older: (count) => `仅显示最近 ${count} 次更改，更早的更改可通过 API 查看。`,
  },
})
