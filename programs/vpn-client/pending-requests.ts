import { AppError } from '../../src/kernel/errors.ts'
import type { ResponseFrame } from './frames.ts'

/** The requests of one session that were not answered yet. */
export interface PendingRequests {
  /** A request under a new id. */
  open(): { readonly id: string; readonly answer: Promise<ResponseFrame> }
  /** Answers to what nobody has asked are left alone. */
  resolve(response: ResponseFrame): void
  reject(id: string, error: AppError): void
  rejectAll(error: AppError): void
  /** Resolves when all that are open now were answered, in one way or another. */
  settled(): Promise<unknown>
}

export function createPendingRequests(): PendingRequests {
  const answers = new Map<string, PromiseWithResolvers<ResponseFrame>>()
  let opened = 0

  const take = (id: string) => {
    const answer = answers.get(id)
    answers.delete(id)
    return answer
  }

  return {
    open() {
      const id = String((opened += 1))
      const answer = Promise.withResolvers<ResponseFrame>()
      answers.set(id, answer)
      return { id, answer: answer.promise }
    },
    resolve: (response) => take(response.id)?.resolve(response),
    reject: (id, error) => take(id)?.reject(error),
    rejectAll(error) {
      for (const id of answers.keys()) take(id)?.reject(error)
    },
    settled: () => Promise.allSettled([...answers.values()].map(({ promise }) => promise)),
  }
}

/** There is no session to send on. */
export function noSession(reason: string): AppError {
  return new AppError('unavailable', 'no_session', `There is no session with a gateway: ${reason}.`)
}
