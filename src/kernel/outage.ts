import type { LogFields, Logger } from './logger.ts'

/** Logs the start and the end of an outage once each, however many attempts fail in between. */
export interface Outage {
  works(): void
  fails(error: unknown): void
}

export function createOutage(
  logger: Logger,
  fields: LogFields,
  messages: { readonly fails: string; readonly worksAgain: string },
): Outage {
  let isFailing = false
  return {
    works() {
      if (isFailing) logger.info(fields, messages.worksAgain)
      isFailing = false
    },
    fails(error) {
      if (!isFailing) logger.warn({ ...fields, error }, messages.fails)
      isFailing = true
    },
  }
}
