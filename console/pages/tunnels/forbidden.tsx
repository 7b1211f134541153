import { EmptyState } from '../../parts/states.tsx'
import type { PageProps } from './page-props.ts'
import { tunnelWords } from './words.ts'

/** Shown when the user's roles are not sufficient. */
export function Forbidden({ model, session }: PageProps) {
  const words = tunnelWords()
  const bearer = model.bearer.value
  return (
    <div role="alert">
      <EmptyState icon="warning" title={words.forbidden}>
        <p>
          {words.neededRoles} {bearer?.name && words.signedInAs(bearer.name, bearer.roles.join(', '))}
        </p>
        <p>{words.askForRole}</p>
        <button class="button button-main" type="button" onClick={() => session.signOut()}>
          {words.otherUser}
        </button>
      </EmptyState>
    </div>
  )
}
