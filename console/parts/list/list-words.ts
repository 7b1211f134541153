import { defineWords } from '../../i18n/language.ts'

export const listWords = defineWords({
  en: { nextRow: 'Next row', previousRow: 'Previous row' },
  zh: { nextRow: '下一行', previousRow: '上一行' },
})
