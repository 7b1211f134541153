import type { Generated } from 'kysely'
import type { MessageStatus } from './model.ts'

export interface MessagesTable {
  /** The order in which messages of one subject go out. */
  seq: Generated<number>
  id: string
  subject: string
  /** JSON text, as it goes out on the bus. */
  payload: string
  /** JSON object of strings. */
  headers: string
  status: MessageStatus
  attempts: number
  last_error: string | null
  created_at: number
  delivered_at: number | null
}
