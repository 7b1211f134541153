import type { ConflictField } from '../../../parts/conflict.tsx'
import { session } from '../platform.ts'
import { userLabel } from '../user-names.ts'
import type { TicketDetails, TicketEdit } from './model.ts'
import { ticketWords } from './words.ts'

/** The words for a level. */
export function levelLabel(level: string): string {
  const { levels } = ticketWords()
  return level in levels ? levels[level as keyof typeof levels] : level
}

/** The words for an assignee to choose. */
export function assigneeLabel(id: string): string {
  return id === session.bearer.value?.id ? ticketWords().me : userLabel(id)
}

/** The words for the value of a field in the history of a ticket. */
export function valueLabel(field: string, value: string | null): string {
  const { statuses, nobody } = ticketWords()
  if (value === null) return field === 'assignee' ? nobody : '–'
  if (field === 'level') return levelLabel(value)
  if (field === 'status' && value in statuses) return statuses[value as keyof typeof statuses]
  return field === 'assignee' ? userLabel(value) : value
}

/** The words for the value of a filter. */
export function filterLabel(name: string, value: string): string {
  return name === 'assignee' || name === 'mentioned' ? assigneeLabel(value) : valueLabel(name, value)
}

/** The words for a field. */
export function fieldLabel(field: string): string {
  const { fields } = ticketWords()
  return field in fields ? fields[field as keyof typeof fields] : field
}

const COMPARED = ['status', 'level', 'title', 'assignee'] as const

/** The fields of a change beside those of the current ticket. */
export function comparedFields(body: TicketEdit, current: TicketDetails): readonly ConflictField[] {
  return COMPARED.filter((name) => name in body).map((name) => ({
    name: fieldLabel(name),
    yours: valueLabel(name, body[name] ?? null),
    theirs: valueLabel(name, current[name]),
  }))
}
