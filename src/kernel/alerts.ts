import { AppError, fieldFault } from './errors.ts'
import { REDACTED } from './secret.ts'

/** How severe a firing alert is, the most severe first (docs/specification.md, Alerts). */
export const FIRING_SEVERITIES = ['CRITICAL', 'HIGH', 'ERROR', 'WARNING', 'INFO'] as const
export type FiringSeverity = (typeof FIRING_SEVERITIES)[number]

/** What the platform, or one of its programs, says of an alert that it raises. All texts are for docs/reference. */
export interface DeclaredAlert {
  readonly severities: readonly FiringSeverity[]
  readonly raisedBy: string
  /** Who owns its end: an alert that nothing ends would fire for ever. */
  readonly endedBy: string
  readonly whatToDo: string
  /** It recovers when it was not reported for so long. */
  readonly endsAfterMs?: number
  /** It needs a person: while it fires, it is told again after so long. */
  readonly repeatEveryMs?: number
}

/** Alerts by their `alarm_id`; one that ends in `*` has a variable end, such as `message.dead:*`. */
export type AlertTable = Readonly<Record<string, DeclaredAlert>>

declare const isDeclared: unique symbol
/** The `alarm_id` of a declared alert. */
export type AlarmId = string & { readonly [isDeclared]: true }

/** The `alarm_id` of an alert of the table, with the text in the place of `*`. */
export function declaredAlarmId<T extends AlertTable>(_table: T, alert: keyof T & string, end = ''): AlarmId {
  return alert.replace(/\*$/, () => end) as AlarmId
}

/** Finds the declaration of an alert by its `alarm_id`. */
export class DeclaredAlerts {
  readonly #table: AlertTable
  readonly #prefixes: readonly string[]

  constructor(table: AlertTable) {
    this.#table = table
    this.#prefixes = Object.keys(table).flatMap((id) => (id.endsWith('*') ? [id.slice(0, -1)] : []))
  }

  find(alarmId: string): DeclaredAlert | undefined {
    const id = this.idOf(alarmId)
    return id === undefined ? undefined : this.#table[id]
  }

  /** The `alarm_id` of the table that stands for this one, such as `message.dead:*`. */
  idOf(alarmId: string): string | undefined {
    if (Object.hasOwn(this.#table, alarmId)) return alarmId
    const prefix = this.#prefixes.find((each) => alarmId.startsWith(each))
    return prefix === undefined ? undefined : `${prefix}*`
  }
}

// A variable that stands for a secret; not allowed in alerts (docs/specification.md, Alerts).
const FORBIDDEN_VARIABLE = /\$\{\s*(?:token|password)\s*\}/i
const EVERY_FORBIDDEN_VARIABLE = new RegExp(FORBIDDEN_VARIABLE, 'gi')

/** Whether a text contains a variable that stands for a secret. */
export function hasForbiddenVariable(text: string): boolean {
  return FORBIDDEN_VARIABLE.test(text)
}

/** Redacts the variables that stand for secrets, in a text that quotes others and must not be refused. */
export function redactForbiddenVariables(text: string): string {
  return text.replace(EVERY_FORBIDDEN_VARIABLE, REDACTED)
}

/** Throws `forbidden_variable` if a field contains a variable that stands for a secret. */
export function requireAllowedText(texts: Readonly<Record<string, string | undefined>>): void {
  const fields = Object.keys(texts).filter((field) => hasForbiddenVariable(texts[field] ?? ''))
  if (fields.length === 0) return
  throw new AppError(
    'invalid',
    'forbidden_variable',
    `${fields.join(', ')}: the variables \${token} and \${password} are not allowed in an alert; remove them.`,
    { details: fields.map((path) => fieldFault(path, 'secret_variable')) },
  )
}
