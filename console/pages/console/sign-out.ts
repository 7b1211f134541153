import { defineWords } from '../../i18n/language.ts'
import { hasUnsavedInput } from '../../parts/before-unload.ts'
import { confirmAction } from '../../parts/confirm.tsx'
import { hasKeptValues } from '../../parts/form/kept-values.ts'
import { topBarWords } from '../../parts/top-bar-words.ts'
import { keptDraft } from './menus/kept-draft.ts'
import { call, session } from './platform.ts'
import { PROVIDER_SIGN_OUT } from './provider.ts'

const words = defineWords({
  title: ['Sign out?', '要退出登录吗？'],
  text: [
    'What you have typed and not sent is lost, also the draft of the menus.',
    '已填写但尚未提交的内容将丢失，包括菜单草稿。',
  ],
})

const otherTabs = new BroadcastChannel('platform.sign-out')

/** Ends the session in all tabs of the user; asks first if something that was typed here would be lost. */
export async function signOut(): Promise<void> {
  const { title, text } = words()
  const question = { title, text, action: topBarWords().signOut, isDestructive: true }
  if (isUnsaved() && !(await confirmAction(question))) return
  const bearer = session.bearer.peek()
  // A token that the platform cannot end now is forgotten here all the same.
  const ended = call('logout', {})
  session.signOut()
  otherTabs.postMessage(bearer?.id)
  if (bearer?.isByProvider !== true) return
  // Leaving the page would cut the call off.
  await ended
  location.assign(PROVIDER_SIGN_OUT)
}

/** Ends the session when its user signs out in another tab. What is typed here waits for the next sign-in of the user. */
export function followSignOut(): void {
  otherTabs.addEventListener('message', ({ data: userId }: MessageEvent<string>) => {
    if (session.bearer.peek()?.id !== userId) return
    if (isUnsaved()) session.interrupt()
    else session.signOut()
  })
}

function isUnsaved(): boolean {
  return hasUnsavedInput() || hasKeptValues() || keptDraft() !== null
}
