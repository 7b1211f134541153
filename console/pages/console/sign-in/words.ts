import { defineWords } from '../../../i18n/language.ts'

export const signInPageWords = defineWords({
  en: {
    title: 'Console',
    purpose: 'Sign in to see and run the platform.',
    withProvider: 'Sign in with your organization',
    refused:
      'Your session has ended: the platform does not accept its token any more. Sign in again to go on here.',
    ticketRefused: 'This sign-in took too long or was used before. Sign in again.',
  },
  zh: {
    title: '控制台',
    purpose: '登录后即可查看和管理平台。',
    withProvider: '使用组织账户登录',
    refused: '您的会话已结束：平台不再接受此令牌。请重新登录以继续。',
    ticketRefused: '本次登录已超时或已被使用，请重新登录。',
  },
})
