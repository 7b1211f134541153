import { AppError } from '../../src/kernel/errors.ts'
import type { ResponseFrame } from './frames.ts'

/** The requests of one session that have no response yet. */
export class PendingRequests {
  readonly #responses = new Map<string, PromiseWithResolvers<ResponseFrame>>()
  #lastId = 0

  /** A request with a new id. */
  open(): { readonly id: string; readonly response: Promise<ResponseFrame> } {
    const id = String((this.#lastId += 1))
    const response = Promise.withResolvers<ResponseFrame>()
    this.#responses.set(id, response)
    return { id, response: response.promise }
  }

  /** Ignores a response without a request. */
  resolve(response: ResponseFrame): void {
    this.#take(response.id)?.resolve(response)
  }

  reject(id: string, error: AppError): void {
    this.#take(id)?.reject(error)
  }

  rejectAll(error: AppError): void {
    for (const id of this.#responses.keys()) this.reject(id, error)
  }

  /** Resolves when every request that is pending now has its response or its error. */
  waitForAll(): Promise<unknown> {
    return Promise.allSettled([...this.#responses.values()].map(({ promise }) => promise))
  }

  #take(id: string): PromiseWithResolvers<ResponseFrame> | undefined {
    const response = this.#responses.get(id)
    this.#responses.delete(id)
    return response
  }
}

/** The error for a request that has no session to be sent on. */
export function noSession(reason: string): AppError {
  return new AppError('unavailable', 'no_session', `There is no session with a gateway: ${reason}.`)
}
