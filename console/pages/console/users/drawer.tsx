import { localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { WhoChanged } from '../audit/who-changed.tsx'
import { userResource, type User } from './model.ts'
import { UserTokens } from './tokens.tsx'
import { UserActions } from './user-actions.tsx'
import { userWords } from './words.ts'

export interface UserDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** One user with what an administrator can do about it. */
export function UserDrawer({ id, onClose }: UserDrawerProps) {
  const model = useResource(userResource, id)
  return (
    <ResourceDrawer id={id} model={model} titleOf={({ name }) => name} onClose={onClose}>
      {(user) => (
        <>
          <UserActions user={user} model={model} onRemoved={onClose} />
          <UserFacts user={user} />
          <UserTokens user={user} />
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
