import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { signInPruneJob } from './jobs.ts'
import { SIGN_IN_ERRORS, signInRoutes, type LoginAnswer } from './routes.ts'
import { SignIn, type SignInDeps } from './service.ts'
import { names } from './tables.ts'

export type { SignIn, SignInDeps, SignInSettings } from './service.ts'

/** Sign-in with an OpenID provider (docs/specification.md, Sign-in). */
export const signInDomain = defineDomain({
  name: 'sign-in',
  tables: names,
  events: {},
  errors: SIGN_IN_ERRORS,
  create: (deps: SignInDeps & { readonly login: LoginAnswer }) => {
    const signIn = new SignIn(deps)
    return {
      signIn,
      routes: signInRoutes(signIn, deps.login),
      jobs: { api: [signInPruneJob(signIn)] },
    } satisfies DomainParts & { signIn: SignIn }
  },
})
