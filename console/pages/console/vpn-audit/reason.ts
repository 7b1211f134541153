import type { AuditEntry } from './model.ts'
import { vpnAuditWords } from './words.ts'

/** A reason in the language of the reader; that of a client or a library is shown as it is. */
export function reasonText(
  { reason, cause }: Pick<AuditEntry, 'reason' | 'cause'>,
  nameOf: (userId: string) => string,
): string | null {
  if (!cause) return reason
  const { reasons, by, more } = vpnAuditWords()
  const { actor, repetitions } = cause.values
  return [
    reasons[cause.code],
    typeof actor === 'string' && by(nameOf(actor)),
    typeof repetitions === 'number' && more(String(repetitions)),
  ]
    .filter(Boolean)
    .join(' ')
}
