import type { ErrorCodes } from '../../wire/error-codes.ts'

export const ALERT_ERRORS = {
  alert_not_found: { status: 404, meaning: 'There is no such alert.' },
  receiver_not_found: { status: 404, meaning: 'No receiver of that name is configured.' },
  silence_not_found: { status: 404, meaning: 'There is no such silence.' },
} as const satisfies ErrorCodes
