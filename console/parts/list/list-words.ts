import { defineWords } from '../../i18n/language.ts'

export const listWords = defineWords({
  en: {
    nextRow: 'Next row',
    previousRow: 'Previous row',
    lostPage: 'There is no such page of the list. “Newest” leads to the first one.',
  },
  zh: {
    nextRow: '下一行',
    previousRow: '上一行',
    lostPage: '列表没有此页。点击“最新”前往第一页。',
  },
})
