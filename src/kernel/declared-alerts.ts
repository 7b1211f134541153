/** How severe a firing alert is, the most severe first (docs/specification.md, Alerts). */
export type FiringSeverity = 'CRITICAL' | 'HIGH' | 'ERROR' | 'WARNING' | 'INFO'

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
  readonly #prefixes: readonly (readonly [prefix: string, alert: DeclaredAlert])[]

  constructor(table: AlertTable) {
    this.#table = table
    this.#prefixes = Object.entries(table).flatMap(([id, alert]) =>
      id.endsWith('*') ? [[id.slice(0, -1), alert]] : [],
    )
  }

  find(alarmId: string): DeclaredAlert | undefined {
    return Object.hasOwn(this.#table, alarmId)
      ? this.#table[alarmId]
      : this.#prefixes.find(([prefix]) => alarmId.startsWith(prefix))?.[1]
  }
}
