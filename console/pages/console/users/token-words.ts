import { defineWords } from '../../../i18n/language.ts'

export const tokenWords = defineWords({
  title: ['API tokens', 'API 令牌'],
  mineHint: [
    'With a token a program calls the platform in your name. Revoke one that is lost, or that nobody uses.',
    '程序使用令牌以您的名义调用平台。令牌丢失或不再使用时，请将其撤销。',
  ],
  noneMine: ['No program has a token of yours.', '没有程序持有您的令牌。'],
  none: ['No program has a token of this user.', '没有程序持有此用户的令牌。'],
  noRole: ['no role', '没有角色'],
  create: ['New token', '新建令牌'],
  created: [(name: string) => `The token ${name} was created.`, (name) => `已创建令牌 ${name}。`],
  fields: {
    name: ['What it is for', '用途'],
    roles: ['Roles', '角色'],
    days: ['Valid for days', '有效天数'],
  },
  hints: {
    name: ['Such as the name of the program, at most 64 characters', '例如程序的名称，最多 64 个字符'],
    roles: [
      'Without a choice: all roles that the user has at the time of a call',
      '不选择时：调用时该用户拥有的全部角色',
    ],
    days: ['1 to 366; 90 when left empty', '1 至 366；留空为 90'],
  },
  until: [(at: string) => `until ${at}`, (at) => `有效期至 ${at}`],
  neverUsed: ['never used', '从未使用'],
  used: [
    (at: string, from: string) => `last used ${at} from ${from}`,
    (at, from) => `最近使用于 ${at}，来自 ${from}`,
  ],
  revoke: {
    action: ['Revoke', '吊销'],
    title: [(name: string) => `Revoke the token ${name}?`, (name) => `要吊销令牌 ${name} 吗？`],
    text: [
      'The program that has it is refused within 10 seconds. This cannot be undone.',
      '持有它的程序将在 10 秒内被拒绝。此操作无法撤销。',
    ],
    done: [(name: string) => `The token ${name} is revoked.`, (name) => `已吊销令牌 ${name}。`],
  },
  newToken: {
    title: ['The new token', '新令牌'],
    text: [
      'Copy it now: it is shown only once. Whoever has it can do what it may do.',
      '请立即复制：它只显示一次。持有者可以执行它被允许的操作。',
    ],
    close: ['I have copied it', '我已复制'],
  },
})
