import { defineWords } from '../i18n/language.ts'

export const signInWords = defineWords({
  en: {
    signIn: 'Sign in',
    signingIn: 'Signing in …',
    signInWith: 'Sign in with',
    ways: { password: 'Name and password', token: 'Token' },
    name: 'Name',
    password: 'Password',
    tokenFrom: 'From an administrator, or from',
    kept: 'You stay signed in in this tab until you close it, sign out, or the session ends: usually after an hour.',
    wrongCredentials: 'Name or password is wrong, or the account is disabled.',
    notAToken: 'This is not a token: it has characters that no token has.',
    throttled: (seconds: string) => `Too many attempts. Try again in ${seconds} seconds.`,
  },
  zh: {
    signIn: '登录',
    signingIn: '正在登录……',
    signInWith: '登录方式',
    ways: { password: '用户名和密码', token: '令牌' },
    name: '用户名',
    password: '密码',
    tokenFrom: '向管理员索取，或使用命令',
    kept: '登录状态只保存在此标签页中：关闭标签页、退出登录或会话到期（通常为一小时）后即失效。',
    wrongCredentials: '用户名或密码错误，或账户已停用。',
    notAToken: '这不是令牌：其中包含令牌不会有的字符。',
    throttled: (seconds) => `尝试次数过多，请在 ${seconds} 秒后重试。`,
  },
})
