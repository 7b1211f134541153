import { isUserName } from '../../kernel/identity.ts'
import { hash, randomBytes } from 'node:crypto'
import { changesBetween, signInRecord, systemRecord } from '../../kernel/audit.ts'
import type { Clock } from '../../kernel/clock.ts'
import { AppError, invalidField, readOnlyError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Counter, Metrics } from '../../kernel/metrics.ts'
import type { RotatedKeys } from '../../kernel/secret.ts'
import { SECOND } from '../../kernel/time.ts'
import type { AuditTrail } from '../../ports/audit.ts'
import type { Claims, IdentityProvider, ProviderFailure } from '../../ports/authentication.ts'
import type { Store, Tx } from '../../store/store.ts'
import type { Auth, IssuedToken, User, Users } from '../users/index.ts'
import { BrowserCookie } from './cookie.ts'
import { SIGN_IN_FAILURES, SignInError, type SignInFailure } from './failures.ts'
import { FlowStates, newBrowserKey, type Flow } from './flow-state.ts'
import { isUnverified, judge, shapeOf, userNameOf, type ClaimRules } from './model.ts'
import { isReturnPath } from './return-path.ts'
import { claimAnswer, insertSignInTicket, removeExpired, takeSignInTicket } from './store.ts'

/** The configured provider, and how its users become users of the platform. */
export interface SignInSettings extends ClaimRules {
  readonly provider: IdentityProvider
  readonly redirectUri: string
}

/** What the sign-in needs of the rest of the platform. */
export interface SignInDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  /** Undefined when no provider is configured. */
  readonly settings: SignInSettings | undefined
  readonly readOnly: boolean
  readonly signingKeys: () => RotatedKeys
  readonly users: Pick<Users, 'findByName' | 'prepareAccount' | 'create' | 'change' | 'removeRoles'>
  readonly auth: Pick<Auth, 'issueAfterSignIn'>
  /** Left out, nothing is recorded in the audit trail. */
  readonly audit?: AuditTrail
}

/** The request that a browser sends. */
export interface BrowserRequest {
  readonly cookies: string | undefined
  readonly remoteAddress: string
  readonly requestId: string
}

/** The actor of the users that the provider names. */
const ACTOR = 'sign-in'
// docs/specification.md, Sign-in
const TICKET_LIFETIME_MS = 60 * SECOND
// A code is exchanged within some seconds. More than this waits for a provider that does not answer.
const CONCURRENT_EXCHANGES = 50
const TICKET_BYTES = 32
const SIGNED_OUT_PATH = '/console/'

const PROVIDER_FAILURES = {
  refused: 'provider_refused',
  unusable: 'answer_unusable',
  unreachable: 'provider_unreachable',
} as const satisfies Record<ProviderFailure['outcome'], SignInFailure>

/** Sign-in with an OpenID provider (docs/specification.md, Sign-in). */
export class SignIn {
  readonly #deps: SignInDeps
  readonly #states: FlowStates
  readonly #cookie: BrowserCookie | undefined
  readonly #outcomes: Counter
  #exchanges = 0

  constructor(deps: SignInDeps) {
    this.#deps = deps
    this.#states = new FlowStates(deps.signingKeys, deps.clock)
    this.#cookie = deps.settings && new BrowserCookie(deps.settings.redirectUri)
    this.#outcomes = deps.metrics.counter({
      name: 'sign_ins_total',
      help: 'Sign-ins with the OpenID provider, by outcome.',
      labels: { outcome: ['succeeded', 'ticket_refused', ...Object.keys(SIGN_IN_FAILURES)] },
    })
  }

  /**
   * Begins a sign-in: where to send the browser, and its cookie. Rejects with `validation_failed`,
   * `sign_in_not_configured` or a {@link SignInError}.
   */
  async begin(returnTo: string, request: BrowserRequest): Promise<{ location: string; cookie: string }> {
    const { provider, cookie } = this.#requireSettings()
    if (!isReturnPath(returnTo)) throw invalidField('return_to', 'not_a_path')
    if (this.#deps.readOnly) throw new SignInError('unavailable', { reason: readOnlyError().message })
    const browserKey = cookie.read(request.cookies) ?? newBrowserKey()
    const answer = await provider.authorizationUrl(this.#states.begin(browserKey, returnTo))
    if (answer.outcome !== 'ready') throw providerError(answer)
    return { location: answer.url, cookie: cookie.write(browserKey) }
  }

  /** Where a browser goes that signs out: to the provider, if it ends sessions. Rejects with `sign_in_not_configured`. */
  async endSession(): Promise<string> {
    return (await this.#requireSettings().provider.endSessionUrl()) ?? SIGNED_OUT_PATH
  }

  /**
   * The sign-in that an answer of the provider belongs to. Rejects with `sign_in_not_configured`, or with a
   * {@link SignInError} for an answer to another browser or one that came too late.
   */
  open(answer: URLSearchParams, { cookies }: BrowserRequest): Flow {
    const browserKey = this.#requireSettings().cookie.read(cookies)
    const states = answer.getAll('state')
    const [state = ''] = states
    const flow =
      browserKey === undefined || states.length !== 1 ? undefined : this.#states.open(browserKey, state)
    const reason = browserKey === undefined ? 'no cookie' : 'another state'
    if (!flow) throw new SignInError('wrong_state', { reason })
    if (flow.expiresAt <= this.#deps.clock.now()) throw new SignInError('expired')
    return flow
  }

  /** Finishes a sign-in: where to send the browser, with a ticket. Rejects with a {@link SignInError}. */
  async complete(answer: URLSearchParams, flow: Flow): Promise<string> {
    const claims = await this.#identify(answer, flow)
    const ticket = randomBytes(TICKET_BYTES).toString('base64url')
    const { id: userId, tokenGeneration } = await this.#resolve(claims)
    const expiresAt = this.#deps.clock.now() + TICKET_LIFETIME_MS
    const row = { ticketHash: digest(ticket), userId, tokenGeneration, expiresAt }
    await this.#deps.store.write((tx) => insertSignInTicket(tx, row))
    return `${flow.returnTo}#signed-in=${ticket}`
  }

  /**
   * Exchanges a ticket for a token. Rejects with `invalid_credentials` for a ticket that is unknown, used or expired, or
   * whose user has been disabled or changed since.
   */
  async redeem(ticket: string, request: Omit<BrowserRequest, 'cookies'>): Promise<IssuedToken> {
    this.#requireSettings()
    const issued = await this.#deps.store.write((tx) => this.#exchangeTicket(tx, ticket, request))
    const outcome = issued ? 'succeeded' : 'ticket_refused'
    this.#outcomes.increment({ outcome })
    const fields = { user_id: issued?.user.id ?? null, ...logFields(request) }
    if (issued) this.#deps.logger.info(fields, 'sign-in succeeded')
    else this.#deps.logger.warn({ outcome, ...fields }, 'sign-in failed')
    if (issued) return issued
    await this.#deps.audit?.note(signInRecord(undefined, request, 'refused'))
    const message = 'The ticket is unknown, was used or has expired; sign in again.'
    throw new AppError('unauthenticated', 'invalid_credentials', message)
  }

  /** Logs and counts a failure; to be called once for each. */
  record(error: SignInError, request: BrowserRequest): Promise<void> {
    this.#outcomes.increment({ outcome: error.failure })
    const user = error.userName === undefined ? {} : { provider_user: error.userName.slice(0, 128) }
    const fields = { outcome: error.failure, ...error.fields, ...user, ...logFields(request) }
    this.#deps.logger.warn(fields, 'sign-in failed')
    return this.#deps.audit?.note(signInRecord(undefined, request, 'refused')) ?? Promise.resolve()
  }

  /** Removes expired rows, at most `limit` of each kind; returns whether there may be more of one kind. */
  prune(limit: number): Promise<boolean> {
    const now = this.#deps.clock.now()
    return this.#deps.store.write((tx) => removeExpired(tx, now, limit))
  }

  #requireSettings() {
    const { settings } = this.#deps
    if (settings && this.#cookie) return { ...settings, cookie: this.#cookie }
    const message = 'No OpenID provider is configured; an administrator can set auth.oidc.issuer.'
    throw new AppError('not_found', 'sign_in_not_configured', message)
  }

  async #exchangeTicket(
    tx: Tx,
    ticket: string,
    request: Omit<BrowserRequest, 'cookies'>,
  ): Promise<IssuedToken | undefined> {
    const row = await takeSignInTicket(tx, digest(ticket))
    if (!row || row.expiresAt <= this.#deps.clock.now()) return undefined
    const { auth, audit } = this.#deps
    const issued = await auth.issueAfterSignIn(tx, row.userId, row.tokenGeneration)
    if (issued) await audit?.record(tx, signInRecord(issued.user, request, 'done'))
    return issued
  }

  /** Claims the answer before it is exchanged, so that no answer reaches the provider twice. */
  async #identify(answer: URLSearchParams, { binding, expiresAt }: Flow): Promise<Claims> {
    if (this.#exchanges >= CONCURRENT_EXCHANGES) throw new SignInError('busy')
    this.#exchanges++
    try {
      const isFirst = await this.#deps.store.write((tx) => claimAnswer(tx, digest(binding.state), expiresAt))
      if (!isFirst) throw new SignInError('replayed')
      const result = await this.#requireSettings().provider.identify(answer, binding)
      if (result.outcome === 'identified') return result.claims
      throw providerError(result)
    } finally {
      this.#exchanges--
    }
  }

  /** The user of the platform that the claims name, created or changed by the rules. */
  async #resolve(claims: Claims): Promise<User> {
    const rules = this.#requireSettings()
    const name = userNameOf(claims, rules)
    if (name === undefined) {
      const reason = `the claim ${rules.userClaim} is missing or no text`
      throw new SignInError('answer_unusable', { reason })
    }
    if (isUnverified(claims, rules)) throw new SignInError('unverified_address', {}, name)
    if (!isUserName(name)) {
      const reason = `the claim ${rules.userClaim} has ${shapeOf(name)}`
      throw new SignInError('unusable_name', { reason }, name)
    }
    const user = await this.#deps.users.findByName(name)
    const verdict = judge(user, claims, rules)
    if (verdict.action === 'refuse') throw new SignInError(verdict.reason, {}, name)
    if (!user) return this.#create(name, verdict.action === 'create' ? verdict.roles : [], claims)
    return verdict.action === 'set_roles' ? this.#setRoles(user, verdict.roles) : user
  }

  async #create(name: string, roles: readonly string[], claims: Claims): Promise<User> {
    const { store, users } = this.#deps
    // Nobody knows the password, so only the provider can sign the user in.
    const password = randomBytes(TICKET_BYTES).toString('base64url')
    const account = await users.prepareAccount({ name, roles, password })
    try {
      return await store.write((tx) =>
        this.#recordChange(tx, 'createUser', undefined, users.create(tx, account, ACTOR)),
      )
    } catch (error) {
      // Another sign-in of the same user was first.
      if (error instanceof AppError && error.code === 'user_exists') return this.#resolve(claims)
      throw error
    }
  }

  /** Writes what the provider has changed of a user into the audit trail, with the change. */
  async #recordChange(
    tx: Tx,
    operation: string,
    before: User | undefined,
    change: Promise<User>,
  ): Promise<User> {
    const after = await change
    const [from, to] = [before, after].map((user) => user && { name: user.name, roles: user.roles })
    await this.#deps.audit?.record(tx, {
      ...systemRecord(operation, { kind: 'user', id: after.id }, ACTOR),
      changes: changesBetween(from, to),
    })
    return after
  }

  async #setRoles(user: User, roles: readonly string[]): Promise<User> {
    const { store, users } = this.#deps
    const { id, name } = user
    const set = (tx: Tx) => {
      const change =
        roles.length > 0 ? users.change(tx, id, { roles }, ACTOR) : users.removeRoles(tx, id, ACTOR)
      return this.#recordChange(tx, 'updateUser', user, change)
    }
    const changed = await store.write(set).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'last_admin')
        throw new SignInError('last_admin', {}, name)
      throw error
    })
    // Thrown after the commit: the removal of the roles remains.
    if (changed.roles.length === 0) throw new SignInError('no_role', {}, name)
    return changed
  }
}

function providerError({ outcome, reason }: ProviderFailure): SignInError {
  return new SignInError(PROVIDER_FAILURES[outcome], { reason })
}

function digest(text: string): string {
  return hash('sha256', text, 'hex')
}

function logFields({ remoteAddress, requestId }: Omit<BrowserRequest, 'cookies'>) {
  return { remote_address: remoteAddress, request_id: requestId }
}
