import { defineWords } from '../../i18n/language.ts'
import { confirmAction } from '../../parts/confirm.tsx'
import { hasKeptValues } from '../../parts/form/kept-values.ts'
import { topBarWords } from '../../parts/top-bar-words.ts'
import { keptDraft } from './menus/kept-draft.ts'
import { session } from './platform.ts'

const words = defineWords({
  en: { title: 'Sign out?', text: 'What you have typed and not sent is lost, also the draft of the menus.' },
  zh: { title: '要退出登录吗？', text: '已填写但尚未提交的内容将丢失，包括菜单草稿。' },
})

/** Ends the session; asks first if something that was typed would be lost. */
export async function signOut(): Promise<void> {
  const { title, text } = words()
  const question = { title, text, action: topBarWords().signOut, isDestructive: true }
  const isUnsaved = hasKeptValues() || keptDraft() !== null
  if (!isUnsaved || (await confirmAction(question))) session.signOut()
}
