import type { Logger } from '../kernel/logger.ts'

/** Calls the listeners of a commit. One that throws is logged: the commit stands, and the others are called. */
export function callListeners(listeners: readonly (() => void)[], logger: Logger): void {
  for (const listener of listeners) {
    try {
      listener()
    } catch (error) {
      logger.error({ error }, 'a listener of a committed transaction has failed')
    }
  }
}
