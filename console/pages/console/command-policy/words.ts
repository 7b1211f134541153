import type { AnswerOf } from '../../../api/operations.ts'
import { defineWords } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

type AccessRule = AnswerOf<'explainCommandAccess'>['rule']

export const commandPolicyWords = defineWords({
  ...PAGE_WORDS['command-policy'],
  list: ['Who may run which command', '谁可以运行哪个命令'],
  empty: ['There is no command with a rule.', '没有设置规则的命令。'],
  about: [
    'A command without a rule is for administrators only. A change takes effect at once. “As the command says”: the rule does not set the approval, so that of the command counts: the configuration for a program, none for a built-in command.',
    '没有规则的命令仅限管理员运行。更改立即生效。“按命令自身的设定”：规则未设置审批，因此以命令为准——程序取自配置，内置命令则无需审批。',
  ],
  views: {
    label: ['View of the policy', '策略视图'],
    rules: ['Rules', '规则'],
    history: ['History', '历史记录'],
  },
  fields: {
    id: ['Command', '命令'],
    roles: ['May run it', '可运行'],
    approvers: ['May approve it', '可审批'],
    approval: ['Approval', '审批'],
    user_id: ['User', '用户'],
  },
  hints: {
    roles: ['Without a role nobody may run it.', '不选角色则无人可以运行。'],
    approvers: ['Without a role nobody may approve a request.', '不选角色则无人可以审批。'],
    approval: [
      'A program has the approval of the configuration, a built-in command has none. The rule can set another one.',
      '程序的审批取自配置，内置命令无需审批；规则可另行设定。',
    ],
    user_id: ['The id of a user', '用户的标识'],
  },
  nobody: ['Nobody', '无人'],
  asCommand: ['As the command says', '按命令自身的设定'],
  approvedBy: [(roles: string) => `approved by ${roles}`, (roles) => `审批：${roles}`],
  noRule: ['No rule', '无规则'],
  hasNoRule: ['It has no rule, so only administrators may run it.', '没有规则，仅管理员可以运行。'],
  createRule: ['Set a rule', '设置规则'],
  editRule: ['Edit the rule', '编辑规则'],
  save: ['Save the rule', '保存规则'],
  saved: ['The policy is changed.', '策略已更改。'],
  remove: {
    action: ['Remove the rule', '移除规则'],
    title: [(id: string) => `Remove the rule of ${id}?`, (id) => `要移除 ${id} 的规则吗？`],
    text: ['Then only administrators may run the command.', '之后仅管理员可以运行此命令。'],
  },
  isMissing: ['Does not exist', '不存在'],
  missing: [
    (ids: string) =>
      `There are rules for commands that do not exist: ${ids}. The next change of the policy removes these rules.`,
    (ids) => `以下命令不存在但有规则：${ids}。下次更改策略时会一并移除这些规则。`,
  ],
  access: ['May a user run it?', '某个用户可以运行吗？'],
  explain: ['Check', '检查'],
  allowed: ['Allowed', '允许'],
  notAllowed: ['Not allowed', '不允许'],
  disabled: ['The user is disabled.', '该用户已停用。'],
  because: [
    (rule: AccessRule, roles: readonly string[]) => {
      const allows = rule
        ? `The rule of revision ${rule.revision} allows ${rule.roles.join(', ') || 'no role'}`
        : 'There is no rule for this command, so only admin may run it'
      return `${allows}; the user has ${roles.join(', ') || 'no role'}.`
    },
    (rule, roles) => {
      const allows = rule
        ? `修订版 ${rule.revision} 的规则${rule.roles.length > 0 ? `允许 ${rule.roles.join(', ')}` : '不允许任何角色'}`
        : '此命令没有规则，因此只有 admin 可以运行'
      return `${allows}；${roles.length > 0 ? `该用户拥有 ${roles.join(', ')}` : '该用户没有角色'}。`
    },
  ],
  executions: ['Executions of this command', '此命令的执行记录'],
  notListed: ['There is no such command, or it has no rule.', '命令不存在，或没有规则。'],
  revision: [(revision: string) => `Revision ${revision}`, (revision) => `版本 ${revision}`],
  change: [
    (id: string, from: string, to: string) => `${id}: ${from} → ${to}`,
    (id, from, to) => `${id}：${from} → ${to}`,
  ],
  sameRules: ['The rules stayed the same.', '规则没有变化。'],
  noHistory: ['The policy was never changed.', '策略从未更改过。'],
  older: [
    (count: string) => `These are the latest ${count} changes. The API lists the older ones.`,
    (count) => `仅显示最近 ${count} 次更改，更早的更改可通过 API 查看。`,
  ],
})
