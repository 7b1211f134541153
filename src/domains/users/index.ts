import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { Auth, type AuthDeps } from './auth.ts'
import { createAuthenticator, requireTokenHolder, type AuthenticatorDeps } from './authenticator.ts'
import { USER_ERRORS, userRoutes } from './routes.ts'
import { encodeLogin, LoginSchema } from './schemas.ts'
import { Users, type UserDeps } from './service.ts'
import { names } from './tables.ts'

export { Auth, type IssuedToken } from './auth.ts'
export { requireTokenHolder } from './authenticator.ts'
export type { NewUser, User } from './model.ts'
export { Users, type UserDeps } from './service.ts'

/** Users, their passwords and their tokens (docs/specification.md, Identity). */
export const usersDomain = defineDomain({
  name: 'users',
  tables: names,
  events: {},
  errors: USER_ERRORS,
  create: (deps: UserDeps & Omit<AuthDeps, 'users'> & Omit<AuthenticatorDeps, 'users'>) => {
    const users = new Users(deps)
    const auth = new Auth({ ...deps, users })
    const authenticator = createAuthenticator({ ...deps, users })
    return {
      users,
      auth,
      authenticator,
      requireTokenHolder,
      /** How a login answers, for other ways to sign in. */
      login: { schema: LoginSchema, encode: encodeLogin },
      routes: userRoutes(users, auth),
      jobs: {},
    } satisfies DomainParts & Record<string, unknown>
  },
})
