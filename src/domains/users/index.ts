export {
  createAuth,
  type Auth,
  type AuthDeps,
  type Credentials,
  type IssuedToken,
  type PasswordChange,
  type TokenSubject,
} from './auth.ts'
export { createAuthenticator, requireTokenHolder, type AuthenticatorDeps } from './authenticator.ts'
export type { NewUser, TokenIssue, User, UserChange } from './model.ts'
export { userRoutes } from './routes.ts'
export { createUserService, type UserDeps, type UserListener, type Users } from './service.ts'
