import { defineColumns, generated, integer, json, text, schemaOf } from '../../../store/columns.ts'
import type { WeeklyHours } from '../../../kernel/time.ts'
import type { LabelMatcher } from '../labels.ts'
import type { Matchers } from './model.ts'

export const silences = defineColumns({
  seq: generated(),
  id: text(),
  matchers: json<Matchers>(),
  labelMatchers: json<readonly LabelMatcher[]>().nullable(),
  reason: text(),
  startsAt: integer(),
  endsAt: integer(),
  repeat: json<WeeklyHours>().nullable(),
  windowStartsAt: integer().nullable(),
  windowEndsAt: integer().nullable(),
  /** See `Silence.seenAt`; null in a row of an older program. */
  seenAt: integer().nullable(),
  createdBy: text(),
  createdAt: integer(),
  endedBy: text().nullable(),
  /** When it has to be worked on next: a beginning, an end, or the notice of the last one; null afterwards. */
  dueAt: integer().nullable(),
  version: integer(),
})

export const { changeRow, changeRows, lockable, names, pages, readRows } = schemaOf({
  alert_silences: silences,
})
