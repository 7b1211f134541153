import { batch, computed, signal } from '@preact/signals'
import { OPERATIONS } from '../../clients/typescript/src/generated.ts'
import type { OperationName } from './operations.ts'
import { readBearer, type Bearer } from './token.ts'

/** Why the last session ended. */
export type SessionEnd = 'signed_out' | 'refused'

export interface TokenStore {
  read(): string | null
  write(token: string): void
  clear(): void
}

/**
 * Who uses the console. A token that the platform refuses ends the session, but the page stays that of its user, so that the
 * same user can go on with what is typed there.
 */
export class ConsoleSession {
  readonly #store: TokenStore
  readonly #onOtherUser: () => void
  /** The id and the roles of the user whose session this page has shown last. */
  #lastIdentity: string | undefined
  /** The last token of the user whose page is shown. */
  readonly #pageToken
  /** Null while nothing can be called. */
  readonly token
  readonly end = signal<SessionEnd | null>(null)
  /** The user whose page is shown. */
  readonly bearer = computed(() =>
    this.#pageToken.value === null ? null : readBearer(this.#pageToken.value),
  )
  /** Whether the page can only go on after another sign-in. */
  readonly isInterrupted = computed(() => this.token.value === null && this.bearer.value !== null)

  /** `onOtherUser` opens the page anew, because it remembers what the former user was allowed to see. */
  constructor(store: TokenStore, onOtherUser: () => void) {
    this.#store = store
    this.#onOtherUser = onOtherUser
    this.token = signal(store.read())
    this.#pageToken = signal(this.token.peek())
    this.#lastIdentity = this.bearer.value ? identityOf(this.bearer.value) : undefined
  }

  /** Whether the roles of the user suffice for the operation. */
  may(name: OperationName): boolean {
    return mayCall(this.bearer.value?.roles ?? [], name)
  }

  signIn(token: string): void {
    this.#store.write(token)
    const isOther = this.#isOther(readBearer(token))
    this.#lastIdentity = identityOf(readBearer(token))
    // A browser that does not keep the token would ask for it again and again.
    if (isOther && this.#store.read() === token) return this.#onOtherUser()
    batch(() => {
      this.token.value = token
      this.#pageToken.value = token
      this.end.value = null
    })
  }

  signOut(): void {
    batch(() => {
      this.#pageToken.value = null
      this.#finish('signed_out')
    })
  }

  /** Ends the session, but the page stays that of its user: see {@link isInterrupted}. */
  interrupt(): void {
    this.#finish('signed_out')
  }

  /** A token that was replaced meanwhile ends nothing. */
  refuse(token: string): void {
    if (this.token.peek() === token) this.#finish('refused')
  }

  /** The same user goes on in the page that is shown, also with other roles: what is typed there stays. */
  #isOther(bearer: Bearer): boolean {
    const userOfPage = this.bearer.peek()
    if (userOfPage) return bearer.id === '' || bearer.id !== userOfPage.id
    return this.#lastIdentity !== undefined && identityOf(bearer) !== this.#lastIdentity
  }

  #finish(reason: SessionEnd): void {
    this.#store.clear()
    batch(() => {
      this.token.value = null
      this.end.value = reason
    })
  }
}

function identityOf({ id, roles }: Bearer): string {
  return [id, ...roles].join(' ')
}

type Access = 'public' | 'authenticated' | 'policy' | readonly string[]

/** Whether callers with these roles may call the operation. One that a policy decides on is allowed here. */
export function mayCall(roles: readonly string[], name: OperationName): boolean {
  const access: Access = OPERATIONS[name].access
  return typeof access === 'string' || access.some((role) => roles.includes(role))
}
