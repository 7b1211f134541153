import type { ErrorCodes } from '../../wire/error-codes.ts'

export const ALERT_ERRORS = {
  alert_not_found: { status: 404, meaning: 'There is no such alert.' },
  silence_not_found: { status: 404, meaning: 'There is no such silence.' },
} as const satisfies ErrorCodes
