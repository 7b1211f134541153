import { redactForbiddenVariables } from '../../../src/kernel/alerts.ts'
import { firstBytes, singleLine } from './variables.ts'

/** The body of `POST /tickets`. */
export interface NewNightTicket {
  readonly title: string
  readonly level: 'critical' | 'high' | 'info'
  readonly description: string
  readonly source: string
  readonly dedup_key: string
}

/** The body of `PUT /tickets/{id}`. */
export interface NightTicketEdit {
  readonly comment?: string
  readonly level?: 'high'
  readonly status?: 'resolved' | 'closed'
}

// The platform's limits (docs/specification.md, Tickets).
const TITLE_LENGTH = 200
const DESCRIPTION_BYTES = 16_384
const COMMENT_BYTES = 4_096

/** The ticket of a night without a backup; `date` is the date of the night. */
export function lostNightTicket(date: string, text: string): Omit<NewNightTicket, 'source'> {
  return {
    title: `There is no backup of ${date}`,
    level: 'critical',
    description: text,
    dedup_key: `backup:${date}`,
  }
}

/** The ticket of a server that did not pass its self-check after a reboot. */
export function selfcheckTicket(date: string, text: string): Omit<NewNightTicket, 'source'> {
  return {
    title: `The self-check after the reboot of ${date} has failed`,
    level: 'critical',
    description: text,
    dedup_key: `selfcheck:${date}`,
  }
}

/** Has level info, which notifies nobody while the drill may still pass. */
export function drillTicket(backupId: string): Omit<NewNightTicket, 'source'> {
  return {
    title: `Restore drill of backup ${backupId}`,
    level: 'info',
    description: 'The drill checks whether this backup can be restored.',
    dedup_key: `restore-drill:${backupId}`,
  }
}

/** A ticket whose texts the platform accepts. */
export function acceptableTicket(ticket: NewNightTicket): NewNightTicket {
  const { title, description } = ticket
  return {
    ...ticket,
    title: singleLine(redactForbiddenVariables(singleLine(title, TITLE_LENGTH)), TITLE_LENGTH),
    description: acceptableText(description, DESCRIPTION_BYTES),
  }
}

export function acceptableEdit(edit: NightTicketEdit): NightTicketEdit {
  return edit.comment === undefined
    ? edit
    : { ...edit, comment: acceptableText(edit.comment, COMMENT_BYTES) || '-' }
}

/**
 * Shortens a text to a number of bytes, which is at most the number of characters that the API allows. Line breaks are
 * kept.
 */
function acceptableText(text: string, maxBytes: number): string {
  return firstBytes(redactForbiddenVariables(text.replaceAll('\0', '').toWellFormed()), maxBytes)
}
