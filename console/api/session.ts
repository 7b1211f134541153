import { batch, computed, signal } from '@preact/signals'
import { mayCall } from './access.ts'
import type { OperationName } from './operations.ts'
import { readBearer, type Bearer } from './token.ts'

/** Why the last session ended. */
export type SessionEnd = 'signed_out' | 'refused'

export interface TokenStore {
  read(): string | null
  write(token: string): void
  clear(): void
}

/** Who uses the console. A token that the platform refuses ends the session. */
export class ConsoleSession {
  readonly #store: TokenStore
  readonly #onOtherUser: () => void
  /** Whose session this page has shown last, with which roles. */
  #lastIdentity: string | undefined
  readonly token
  readonly end = signal<SessionEnd | null>(null)
  readonly bearer = computed(() => (this.token.value === null ? null : readBearer(this.token.value)))

  /** `onOtherUser` opens the page anew, because it remembers what the former user was allowed to see. */
  constructor(store: TokenStore, onOtherUser: () => void) {
    this.#store = store
    this.#onOtherUser = onOtherUser
    this.token = signal(store.read())
    this.#lastIdentity = this.bearer.value ? identityOf(this.bearer.value) : undefined
  }

  /** Whether the roles of the user suffice for the operation. */
  may(name: OperationName): boolean {
    return mayCall(this.bearer.value?.roles ?? [], name)
  }

  signIn(token: string): void {
    this.#store.write(token)
    const identity = identityOf(readBearer(token))
    const isOther = this.#lastIdentity !== undefined && identity !== this.#lastIdentity
    this.#lastIdentity = identity
    // A browser that does not keep the token would ask for it again and again.
    if (isOther && this.#store.read() === token) return this.#onOtherUser()
    batch(() => {
      this.token.value = token
      this.end.value = null
    })
  }

  signOut(): void {
    this.#finish('signed_out')
  }

  /** A token that was replaced meanwhile ends nothing. */
  refuse(token: string): void {
    if (this.token.peek() === token) this.#finish('refused')
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
