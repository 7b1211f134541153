import { vpnAuditWords } from './words.ts'

const OPERATOR = 'disconnected by an operator'
const REPEATED = /^(.*) \((\d+) more within a minute\)$/

interface AuditReasonParts {
  /** One of the platform's own sentences, or what a library or a client has said. */
  readonly sentence: string
  /** The id of the user who caused it. */
  readonly actor: string | null
  /** How many more entries like this one there were within a minute. */
  readonly repetitions: string | null
}

/** The parts of a reason as the audit trail has it: `disconnected by an operator: ID`, `… (3 more within a minute)`. */
function readReason(reason: string): AuditReasonParts {
  const [, first = reason, repetitions = null] = REPEATED.exec(reason) ?? []
  const hasActor = first.startsWith(`${OPERATOR}: `)
  return {
    sentence: hasActor ? OPERATOR : first,
    actor: hasActor ? first.slice(OPERATOR.length + 2) : null,
    repetitions,
  }
}

/** A reason in the language of the reader; an unknown one is shown as it is. */
export function reasonText(reason: string, nameOf: (userId: string) => string): string {
  const { sentence, actor, repetitions } = readReason(reason)
  const { reasons, by, more } = vpnAuditWords()
  const known: Readonly<Record<string, string>> = reasons
  const text = Object.hasOwn(known, sentence) ? known[sentence] : sentence
  return [text, actor !== null && by(nameOf(actor)), repetitions !== null && more(repetitions)]
    .filter(Boolean)
    .join(' ')
}
