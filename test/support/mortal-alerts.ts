import type {
  OutboxFileName,
  OutboxFiles,
  OutboxLockName,
} from '../../programs/backup/alerts/outbox-files.ts'
import type {
  PlatformApi,
  PlatformCall,
  PlatformOutcome,
} from '../../programs/backup/alerts/platform-client.ts'

/** Where a process is killed: around its `step`-th change of a file, or its call of the platform. */
export interface Death {
  readonly step: number
  readonly when: 'before' | 'after'
}

class Killed extends Error {
  override readonly name = 'Killed'
}

/**
 * The outside world of one process that may be killed: from then on nothing that it does has an effect, and nothing that it
 * waits for comes.
 */
export class MortalProcess {
  readonly died: Promise<void>
  /** How many steps it has made. */
  steps = 0
  readonly #death: Death | undefined
  readonly #die: () => void
  #isDead = false
  readonly #locks: Disposable[] = []

  constructor(death?: Death) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#death = death
    this.died = promise
    this.#die = resolve
  }

  get isDead(): boolean {
    return this.#isDead
  }

  files(files: OutboxFiles): OutboxFiles {
    return {
      path: (name) => files.path(name),
      read: (name: OutboxFileName) => this.#alive(() => files.read(name)),
      replace: (name: OutboxFileName, text: string) => this.#step(() => files.replace(name, text)),
      moveAside: (name: OutboxFileName, now: number) => this.#step(() => files.moveAside(name, now)),
      lock: (name: OutboxLockName) => this.#alive(() => this.#held(files.lock(name))),
    }
  }

  api(api: PlatformApi): PlatformApi {
    return { send: (call) => this.#send(api, call) }
  }

  async #send(api: PlatformApi, call: PlatformCall): Promise<PlatformOutcome> {
    if (this.#isDead) return never()
    const isLast = this.#isLast()
    if (isLast && this.#death?.when === 'before') return this.#kill()
    const outcome = await api.send(call)
    return isLast ? this.#kill() : outcome
  }

  #kill(): Promise<never> {
    this.#isDead = true
    for (const lock of this.#locks) lock[Symbol.dispose]()
    this.#die()
    return never()
  }

  /** The locks of a killed process are free. */
  #held(lock: Disposable | undefined): Disposable | undefined {
    if (lock) this.#locks.push(lock)
    return lock
  }

  #alive<T>(work: () => T): T {
    if (this.#isDead) throw new Killed()
    return work()
  }

  #step<T>(work: () => T): T {
    return this.#alive(() => {
      const isLast = this.#isLast()
      if (!isLast) return work()
      if (this.#death?.when === 'after') work()
      void this.#kill()
      throw new Killed()
    })
  }

  #isLast(): boolean {
    return ++this.steps === this.#death?.step
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined)
}
