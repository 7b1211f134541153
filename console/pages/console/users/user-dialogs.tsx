import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ChangeDialog } from '../../../parts/resource/change-dialog.tsx'
import type { Changing } from '../../../parts/resource/use-change.tsx'
import { call } from '../platform.ts'
import type { User } from './model.ts'
import { roleLabel, userWords } from './words.ts'

/** Asks for the fields of a new user. */
export function NewUser({ onClose, onCreated }: NewItemDialog) {
  const words = userWords()
  const { name, password, roles } = words.fields
  return (
    <CreateDialog
      title={words.newUser}
      schema={BODIES.createUser}
      labels={{ name, password, roles }}
      hints={words.hints}
      labelOf={(_, value) => roleLabel(value)}
      action={words.create}
      create={(body) => call('createUser', { body: body as BodyOf<'createUser'> })}
      doneOf={(user) => words.created(user.name)}
      onCreated={({ id }) => onCreated(id)}
      onClose={onClose}
    />
  )
}

interface RolesDialogProps {
  readonly user: User
  readonly apply: Changing<User>['apply']
  readonly onClose: () => void
}

/** Asks for the roles of a user. */
export function RolesDialog({ user: { id, roles, name }, apply, onClose }: RolesDialogProps) {
  const words = userWords()
  return (
    <ChangeDialog
      title={words.changeRoles}
      schema={BODIES.changeUser}
      labels={{ roles: words.fields.roles }}
      hints={{ roles: words.rolesHint }}
      labelOf={(_, value) => roleLabel(value)}
      initial={{ roles: roles.join(',') }}
      action={words.changeRoles}
      apply={apply}
      request={(body) => call('changeUser', { path: { id }, body })}
      done={words.rolesChanged(name)}
      onClose={onClose}
    />
  )
}

interface PasswordDialogProps {
  readonly id: string
  readonly onClose: () => void
}

/** Asks for a new password; an administrator does not need the old one of another user. */
export function PasswordDialog({ id, onClose }: PasswordDialogProps) {
  const words = userWords()
  return (
    <CreateDialog
      title={words.setPassword}
      schema={BODIES.setPassword}
      labels={{ password: words.fields.password, old_password: words.fields.old_password }}
      hints={{ ...words.hints, old_password: words.oldPasswordHint }}
      action={words.setPassword}
      create={(body) => call('setPassword', { path: { id }, body: body as BodyOf<'setPassword'> })}
      doneOf={() => words.passwordSet}
      onCreated={onClose}
      onClose={onClose}
    />
  )
}
