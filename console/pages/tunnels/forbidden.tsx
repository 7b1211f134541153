import { EmptyState } from '../../parts/states.tsx'
import type { PageProps } from './page-props.ts'

// docs/specification.md, HTTP API: the roles of /vpn/sessions
const ROLES = ['admin', 'devops', 'auditor']

/** Shown when the user's roles are not sufficient. */
export function Forbidden({ model, session }: PageProps) {
  const bearer = model.bearer.value
  const roles = bearer?.roles.join(', ')
  return (
    <div role="alert">
      <EmptyState icon="warning" title="You may not see the tunnels">
        <p>
          This needs the role <strong>{ROLES.slice(0, -1).join(', ')}</strong> or{' '}
          <strong>{ROLES.at(-1)}</strong>.
          {bearer?.name && (
            <>
              {' '}
              You are signed in as <strong>{bearer.name}</strong>
              {roles ? `, with the role ${roles}.` : ', without a role.'}
            </>
          )}
        </p>
        <p>Ask an administrator for one of these roles, or sign in as another user.</p>
        <button class="button button-main" type="button" onClick={() => session.signOut()}>
          Sign in as another user
        </button>
      </EmptyState>
    </div>
  )
}
