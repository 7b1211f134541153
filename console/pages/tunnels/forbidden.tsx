import type { PageProps } from './page-props.ts'

// docs/specification.md, HTTP API: the roles of /vpn/sessions
const ROLES = ['admin', 'devops', 'auditor']

/** Shown when the user's roles are not sufficient. */
export function Forbidden({ model, session }: PageProps) {
  const bearer = model.bearer.value
  const roles = bearer?.roles.join(', ')
  return (
    <section class="card forbidden" role="alert">
      <h2>You may not see the tunnels</h2>
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
      <p class="muted">Ask an administrator for one of these roles, or sign in as another user.</p>
      <button class="button button-main" type="button" onClick={() => session.signOut()}>
        Sign in as another user
      </button>
    </section>
  )
}
