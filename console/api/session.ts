import { batch, computed, signal } from '@preact/signals'
import { mayCall } from './access.ts'
import type { OperationName } from './operations.ts'
import { readBearer } from './token.ts'

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
  readonly token
  readonly end = signal<SessionEnd | null>(null)
  readonly bearer = computed(() => (this.token.value === null ? null : readBearer(this.token.value)))

  constructor(store: TokenStore) {
    this.#store = store
    this.token = signal(store.read())
  }

  /** Whether the roles of the user suffice for the operation. */
  may(name: OperationName): boolean {
    return mayCall(this.bearer.value?.roles ?? [], name)
  }

  signIn(token: string): void {
    this.#store.write(token)
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
