import { defineWords } from '../i18n/language.ts'

export const topBarWords = defineWords({
  signOut: ['Sign out', '退出登录'],
  signedInAs: ['Signed in as', '当前用户'],
  language: ['Language', '语言'],
  theme: ['Colours', '颜色'],
  themes: { system: ['As the system', '跟随系统'], light: ['Light', '浅色'], dark: ['Dark', '深色'] },
})
