import { alerts } from './alerts.ts'
import { audit } from './audit.ts'
import { backup } from './backup.ts'
import { consoleBench } from './console.ts'
import { dataBackup } from './data-backup.ts'
import { dbCopy } from './db-copy.ts'
import { events } from './events.ts'
import { gateway } from './gateway.ts'
import { list } from './list.ts'
import { metrics } from './metrics.ts'
import { mockOidc } from './mock-oidc.ts'
import { orders } from './orders.ts'
import { outbox } from './outbox.ts'
import { payments } from './payments.ts'
import { postgres } from './postgres.ts'
import { scaleOut } from './scale-out.ts'
import { scan } from './scan.ts'
import { slowDisk } from './slow-disk.ts'
import { start } from './start.ts'
import { telemetry } from './telemetry.ts'
import { ticketNotify } from './ticket-notify.ts'
import { tokens } from './tokens.ts'
import { webhooks } from './webhooks.ts'
import { worst } from './worst.ts'
import type { Bench } from './support/bench.ts'

/** In the order of docs/performance.md. */
export const BENCHES: readonly Bench[] = [
  orders,
  list,
  slowDisk,
  scan,
  outbox,
  start,
  gateway,
  mockOidc,
  backup,
  ticketNotify,
  postgres,
  metrics,
  alerts,
  dataBackup,
  events,
  telemetry,
  payments,
  webhooks,
  consoleBench,
  scaleOut,
  dbCopy,
  worst,
  audit,
  tokens,
]
