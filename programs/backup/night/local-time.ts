/** A moment as people of a time zone write it. */
export interface LocalTime {
  /** `2026-01-31` */
  readonly date: string
  /** `02:00` */
  readonly time: string
}

export function localTime(now: number, timeZone: string): LocalTime {
  const local = toZoned(now, timeZone)
  return {
    date: local.toPlainDate().toString(),
    time: local.toPlainTime().toString({ smallestUnit: 'minute' }),
  }
}

/** `20260131-020000`: the start in local time. If that id is taken, the next free second is used. */
export function newBackupId(now: number, timeZone: string, taken: readonly string[]): string {
  for (let at = now; ; at += 1_000) {
    const local = toZoned(at, timeZone)
    const date = local.toPlainDate().toString().replaceAll('-', '')
    const time = local.toPlainTime().toString({ smallestUnit: 'second' }).replaceAll(':', '')
    const id = `${date}-${time}`
    // An hour that clocks repeat has each id twice.
    if (!taken.includes(id)) return id
  }
}

/** `202601` of `20260131-020000`: the folder of its month. */
export function monthOf(backupId: string): string {
  return backupId.slice(0, 6)
}

function toZoned(now: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timeZone)
}
