import type { Generated } from 'kysely'
import type { AlertLevel, AlertStatus, AlertWeight } from './model.ts'

export interface AlertsTable {
  seq: Generated<number>
  id: string
  /** What makes two reports the same alert (contract, Alerts). */
  identity: string
  alarm_id: string | null
  source: string
  title: string
  body: string
  level: AlertLevel
  weight: AlertWeight
  server_addr: string | null
  status: AlertStatus
  count: number
  first_at: number
  last_at: number
  recovered_at: number | null
}
