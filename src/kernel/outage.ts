import type { LogFields, Logger } from './logger.ts'

/** Says once that something fails, and once that it works again, however often it is tried meanwhile. */
export interface Outage {
  works(): void
  fails(error: unknown): void
}

export function createOutage(
  logger: Logger,
  fields: LogFields,
  says: { readonly fails: string; readonly worksAgain: string },
): Outage {
  let isFailing = false
  return {
    works() {
      if (isFailing) logger.info(fields, says.worksAgain)
      isFailing = false
    },
    fails(error) {
      if (!isFailing) logger.warn({ ...fields, error }, says.fails)
      isFailing = true
    },
  }
}
