import { BODIES } from '../../../api/generated.ts'
import type { ApiResult, BodyOf } from '../../../api/operations.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { invalidFields } from '../../../parts/form/invalid-fields.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ChangeDialog } from '../../../parts/resource/change-dialog.tsx'
import type { Changing } from '../../../parts/resource/use-change.tsx'
import { call } from '../platform.ts'
import { isOwnAccount, type User } from './model.ts'
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
      schema={BODIES.updateUser}
      labels={{ roles: words.fields.roles }}
      hints={{ roles: words.rolesHint }}
      labelOf={(_, value) => roleLabel(value)}
      initial={{ roles: roles.join(',') }}
      action={words.changeRoles}
      apply={apply}
      // Roles that are left out would stay as they are.
      request={(body) => call('updateUser', { path: { id }, body: { roles: [], ...body } })}
      done={words.rolesChanged(name)}
      onClose={onClose}
    />
  )
}

interface PasswordDialogProps {
  readonly user: User
  readonly onClose: () => void
}

// Typed twice, because nobody sees it.
const PASSWORD_SCHEMA = {
  ...BODIES.setPassword,
  required: [...BODIES.setPassword.required, 'repeated_password'],
  properties: { ...BODIES.setPassword.properties, repeated_password: { type: 'string' } },
}

/** Asks for a new password; an administrator does not need the old one of another user. */
export function PasswordDialog({ user, onClose }: PasswordDialogProps) {
  const words = userWords()
  const { id, name } = user
  const isOwn = isOwnAccount(user)
  const { password, old_password, repeated_password } = words.fields
  return (
    <CreateDialog
      title={words.setPassword}
      text={isOwn ? words.ownPasswordText : words.passwordText(name)}
      schema={PASSWORD_SCHEMA}
      labels={{ password, repeated_password, ...(isOwn && { old_password }) }}
      hints={words.hints}
      action={words.setPassword}
      create={(body) => setPassword(id, body as EnteredPassword)}
      doneOf={() => words.passwordSet}
      onCreated={onClose}
      onClose={onClose}
    />
  )
}

interface EnteredPassword extends BodyOf<'setPassword'> {
  readonly repeated_password?: string
}

async function setPassword(
  id: string,
  { repeated_password, ...body }: EnteredPassword,
): Promise<ApiResult<unknown>> {
  if (body.password === repeated_password) return call('setPassword', { path: { id }, body })
  const details = [{ path: 'repeated_password', message: userWords().differs }]
  return { ok: false, failure: invalidFields(details) }
}
