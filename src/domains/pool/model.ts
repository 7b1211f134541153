import type { AlertTable } from '../../kernel/alerts.ts'
import { DAY } from '../../kernel/time.ts'

/** How full a pool is. */
export interface PoolUsage {
  readonly cidr: string
  /** Addresses that can be leased. */
  readonly size: number
  /** Held by live sessions. */
  readonly used: number
  /** Released, and reserved for the last holder until the cool-down ends. */
  readonly cooling: number
  readonly free: number
}

/** The session that an address is leased for. */
export interface LeaseHolder {
  readonly sessionId: string
  readonly userId: string
  /** Null when the address need not be kept for the next session. */
  readonly device: string | null
}

/** Thresholds of the alert, the highest first. */
export const POOL_ALERTS = [
  { percent: 95, severity: 'HIGH' },
  { percent: 80, severity: 'WARNING' },
] as const
const RECOVERY_PERCENT = 70

/** The threshold that an alert was raised for; 0 when there is no alert. */
export type AlertPercent = 0 | (typeof POOL_ALERTS)[number]['percent']

/** The alert that a usage calls for: it rises at once, and recovers below 70 %. */
export function nextAlert(
  current: AlertPercent,
  { used, size }: Pick<PoolUsage, 'used' | 'size'>,
): AlertPercent {
  const percent = (used / size) * 100
  if (percent < RECOVERY_PERCENT) return 0
  const reached = POOL_ALERTS.find((alert) => percent >= alert.percent)?.percent ?? 0
  return reached > current ? reached : current
}

/** The alerts of the address pool, for `docs/reference/alerts.md`. */
export const ALERTS_OF_POOL = {
  'vpn.pool:*': {
    severities: ['WARNING', 'HIGH'],
    raisedBy: 'Few addresses of the pool are free; `*` is the pool, such as `100.64.0.0/16`.',
    endedBy:
      'Sessions end, so that enough addresses are free; also those of a pool that no gateway uses any more.',
    whatToDo:
      'Set a larger `vpn.ip_pool` for all gateways and restart them, which ends their sessions for a moment; or disconnect sessions (`DELETE /vpn/sessions/{id}`).',
    repeatEveryMs: DAY,
  },
} as const satisfies AlertTable
