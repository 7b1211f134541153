import { useSignal } from '@preact/signals'
import { confirmAction } from '../../../parts/confirm.tsx'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { call } from '../platform.ts'
import { isOwnAccount, userStateOf, USER_TONES, type User } from './model.ts'
import { PasswordDialog, RolesDialog } from './user-dialogs.tsx'
import { userWords } from './words.ts'

export interface UserActionsProps {
  readonly user: User
  readonly model: ResourceModel<User>
  readonly onRemoved: () => void
}

/** What an administrator can do about a user; only administrators see the page. */
export function UserActions({ user, model, onRemoved }: UserActionsProps) {
  const words = userWords()
  const dialog = useSignal<'roles' | 'password' | null>(null)
  const { apply, applyAndReport } = useChange(model)
  const { id, name, enabled } = user
  // Nobody is to lock themselves out by a slip.
  const isOwn = isOwnAccount(user)
  const close = () => (dialog.value = null)
  const refreshList = useListRefresh()
  const setEnabled = async (wanted: boolean) => {
    const { disableTitle, disableText: text, disable: action } = words
    if (!wanted && !(await confirmAction({ title: disableTitle(name), text, action, isDestructive: true })))
      return
    await applyAndReport({
      send: () => call('updateUser', { path: { id }, body: { enabled: wanted } }),
      done: wanted ? words.enabledToast(name) : words.disabledToast(name),
    })
  }
  const remove = () => {
    const { removeText: text, remove: action, removed: done } = words
    return sendChange({
      question: { title: words.removeTitle(name), text, action, isDestructive: true },
      send: () => call('deleteUser', { path: { id } }),
      done,
      onDone() {
        refreshList()
        onRemoved()
      },
    })
  }
  return (
    <ObjectActions
      status={{ tone: USER_TONES[userStateOf(user)], label: words.states[userStateOf(user)] }}
      actions={[
        { title: words.changeRoles, run: () => (dialog.value = 'roles') },
        { title: words.setPassword, run: () => (dialog.value = 'password') },
        !isOwn &&
          (enabled
            ? { title: words.disable, isDestructive: true, run: () => setEnabled(false) }
            : { title: words.enable, run: () => setEnabled(true) }),
        !isOwn && { title: words.remove, isDestructive: true, run: remove },
      ]}
    >
      {isOwn && <p class="muted">{words.ownAccount}</p>}
      {dialog.value === 'roles' && <RolesDialog user={user} apply={apply} onClose={close} />}
      {dialog.value === 'password' && <PasswordDialog user={user} onClose={close} />}
    </ObjectActions>
  )
}
