import { defineWords } from '../../../i18n/language.ts'

export const signInPageWords = defineWords({
  title: ['Console', '控制台'],
  purpose: ['Sign in to see and run the platform.', '登录后即可查看和管理平台。'],
  withProvider: ['Sign in with your organization', '使用组织账户登录'],
  withProviderElsewhere: ['Sign in with your organization, in a new tab', '在新标签页中使用组织账户登录'],
  refused: [
    'Your session has ended: the platform does not accept its token any more.',
    '您的会话已结束：平台不再接受此令牌。',
  ],
  again: [
    'Sign in again to go on here. What you have typed is kept.',
    '请重新登录以继续，已填写的内容会保留。',
  ],
  later: ['Later', '稍后'],
  endsAt: [
    (time: string) => `Your session ends at ${time}. Sign in again to go on without a break.`,
    (time) => `您的会话将于 ${time} 结束。现在重新登录即可不间断地继续。`,
  ],
  signInAgain: ['Sign in again', '重新登录'],
  ticketRefused: [
    'This sign-in took too long or was used before. Sign in again.',
    '本次登录已超时或已被使用，请重新登录。',
  ],
})
