import { defineWords } from '../i18n/language.ts'

export const topBarWords = defineWords({
  en: {
    signOut: 'Sign out',
    signedInAs: 'Signed in as',
    language: 'Language',
    theme: 'Colours',
    themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
  },
  zh: {
    signOut: '退出登录',
    signedInAs: '当前用户',
    language: '语言',
    theme: '颜色',
    themes: { system: '跟随系统', light: '浅色', dark: '深色' },
  },
})
