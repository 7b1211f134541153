import { runBatches, type Job } from '../../kernel/job.ts'
import { MINUTE } from '../../kernel/time.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
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
      service: signIn,
      routes: signInRoutes(signIn, deps.login),
      jobs: { api: [signInPruneJob(signIn)] },
    } satisfies DomainParts
  },
})

// Deleting in batches lets other writes in between.
const PRUNE_BATCH = 1_000

/** Removes expired tickets and answers. */
function signInPruneJob(signIn: SignIn): Job {
  return {
    name: 'sign-in-prune',
    everyMs: 10 * MINUTE,
    run: (signal) => runBatches(signal, () => signIn.prune(PRUNE_BATCH)),
  }
}
