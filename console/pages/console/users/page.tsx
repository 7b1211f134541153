import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import type { ApiResult, BodyOf } from '../../../api/operations.ts'
import { localTime } from '../../../i18n/local.ts'
import { useActions } from '../../../parts/actions/actions.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { invalidFields } from '../../../parts/form/invalid-fields.ts'
import type { IconName } from '../../../parts/icons.ts'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { focusFindBox } from '../../../parts/list/find-box.tsx'
import { addressOf, type ListQuery } from '../../../parts/list/list-query.ts'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { RelatedLinks } from '../../../parts/related-links.tsx'
import { ChangeDialog } from '../../../parts/resource/change-dialog.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange, type ChangeActions } from '../../../parts/resource/use-change.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { sendChange } from '../../../parts/send-change.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { WhoChanged } from '../audit/who-changed.tsx'
import { session, call } from '../platform.ts'
import { pathOf, type DetailProps, type ViewProps } from '../view.ts'
import { userList, userStateOf, USER_TONES, userResource, isOwnAccount, type User } from './model.ts'
import { UserTokens } from './tokens.tsx'
import { userWords, roleLabel } from './words.ts'
import type { PageName } from '../page-words.ts'

const PATH = pathOf('users')

/** The users: the list, and beside it the user that the address names. */
export function UsersPage({ id }: ViewProps) {
  const words = userWords()
  useActions(() => [{ title: words.find, keys: '/', run: focusFindBox }])
  return (
    <ObjectsPage
      path={PATH}
      source={userList}
      words={words}
      columns={userColumns()}
      icon="users"
      id={id}
      newItem={session.may('createUser') && NewUser}
      detail={(detail) => <UserDrawer key={detail.id} {...detail} />}
    />
  )
}

function userColumns(): readonly TableColumn<User>[] {
  const { fields, states, roles: labels, never } = userWords()
  const column = fieldColumns<User, typeof fields>(fields)
  return [
    column.text('name'),
    column.cell('roles', ({ roles }) => roles.map((role) => labels[role]).join(', ')),
    column.cell(
      'state',
      (user) => <StatusBadge tone={USER_TONES[userStateOf(user)]} label={states[userStateOf(user)]} />,
      { isFromMedium: true },
    ),
    column.time('last_login_at', { isWideOnly: true }, never),
    column.time('created_at', { isWideOnly: true, isOptional: true }),
  ]
}

/** One user with what an administrator can do about it. */
function UserDrawer({ id, onClose }: DetailProps) {
  const model = useResource(userResource, id)
  return (
    <ResourceDrawer id={id} model={model} titleOf={({ name }) => name} onClose={onClose}>
      {(user) => (
        <>
          <UserActions user={user} model={model} onRemoved={onClose} />
          <UserFacts user={user} />
          <UserTokens user={user} />
          <UserRelated user={user} />
          <WhoChanged kind="user" id={id} version={user.updated_at} />
        </>
      )}
    </ResourceDrawer>
  )
}

function UserFacts({ user }: { readonly user: User }) {
  const { fields, roles, never } = userWords()
  const { last_login_at } = user
  return (
    <FactList
      facts={[
        [fields.roles, user.roles.map((role) => roles[role]).join(', ')],
        [fields.last_login_at, last_login_at === null ? never : localTime(last_login_at)],
        [fields.created_at, localTime(user.created_at)],
        [fields.updated_at, localTime(user.updated_at)],
        [fields.id, user.id],
      ]}
    />
  )
}

/** What a user has: each link is the list of it. */
function UserRelated({ user: { id } }: { readonly user: User }) {
  const { related } = userWords()
  const link = (icon: IconName, page: PageName, title: string, query: ListQuery) => ({
    icon,
    title,
    href: addressOf(pathOf(page), query),
  })
  return (
    <RelatedLinks
      links={[
        session.may('listVpnSessions') && link('tunnels', 'vpn-sessions', related.sessions, { user: id }),
        session.may('listExecutions') &&
          link('executions', 'executions', related.executions, { requested_by: id }),
        session.may('listTickets') && link('tickets', 'tickets', related.tickets, { assignee: id }),
        session.may('listAudit') && link('audit', 'audit', related.audit, { actor: id }),
      ]}
    />
  )
}

interface UserActionsProps {
  readonly user: User
  readonly model: ResourceModel<User>
  readonly onRemoved: () => void
}

/** What an administrator can do about a user; only administrators see the page. */
function UserActions({ user, model, onRemoved }: UserActionsProps) {
  const words = userWords()
  const dialog = useSignal<'roles' | 'password' | null>(null)
  const { apply, applyAndReport } = useChange(model)
  const { id, name, enabled } = user
  // Administrators must not lock themselves out by mistake.
  const isOwn = isOwnAccount(user)
  const close = () => (dialog.value = null)
  const refreshList = useListRefresh()
  const setEnabled = async (wanted: boolean) => {
    const { done, title, ...question } = words.disable
    if (!wanted && !(await confirmAction({ ...question, title: title(name), isDestructive: true }))) return
    await applyAndReport({
      send: () => call('updateUser', { path: { id }, body: { enabled: wanted } }),
      done: wanted ? words.enabledToast(name) : done(name),
    })
  }
  const remove = () =>
    sendChange({
      words: { ...words.remove, title: words.remove.title(name) },
      isDestructive: true,
      send: () => call('deleteUser', { path: { id } }),
      onDone() {
        refreshList()
        onRemoved()
      },
    })
  return (
    <ObjectActions
      status={{ tone: USER_TONES[userStateOf(user)], label: words.states[userStateOf(user)] }}
      actions={[
        { title: words.changeRoles, run: () => (dialog.value = 'roles') },
        { title: words.setPassword, run: () => (dialog.value = 'password') },
        !isOwn &&
          (enabled
            ? { title: words.disable.action, isDestructive: true, run: () => setEnabled(false) }
            : { title: words.enable, run: () => setEnabled(true) }),
        !isOwn && { title: words.remove.action, isDestructive: true, run: remove },
      ]}
    >
      {isOwn && <p class="muted">{words.ownAccount}</p>}
      {dialog.value === 'roles' && <RolesDialog user={user} apply={apply} onClose={close} />}
      {dialog.value === 'password' && <PasswordDialog user={user} onClose={close} />}
    </ObjectActions>
  )
}

/** Asks for the fields of a new user. */
function NewUser({ onClose, onCreated }: NewItemDialog) {
  const words = userWords()
  const { name, password, roles } = words.fields
  return (
    <CreateDialog
      title={words.newItem}
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
  readonly apply: ChangeActions<User>['apply']
  readonly onClose: () => void
}

/** Asks for the roles of a user. */
function RolesDialog({ user: { id, roles, name }, apply, onClose }: RolesDialogProps) {
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

// Nobody sees a password while it is typed, so that it is typed twice.
const PASSWORD_SCHEMA = {
  ...BODIES.setPassword,
  required: [...BODIES.setPassword.required, 'repeated_password'],
  properties: { ...BODIES.setPassword.properties, repeated_password: { type: 'string' } },
}

/** Asks for a new password; an administrator does not need the old one of another user. */
function PasswordDialog({ user, onClose }: PasswordDialogProps) {
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
