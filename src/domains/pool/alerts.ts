import type { AlertTable } from '../../kernel/declared-alerts.ts'

/** The alerts of the address pool, for `docs/reference/alerts.md`. */
export const ALERTS_OF_POOL = {
  'vpn.pool:*': {
    severities: ['WARNING', 'HIGH'],
    raisedBy: 'Few addresses of the pool are free; `*` is the pool, such as `100.64.0.0/16`.',
    endedBy:
      'Sessions end, so that enough addresses are free; also those of a pool that no gateway uses any more.',
    whatToDo: 'Set a larger `vpn.ip_pool`, or disconnect sessions.',
  },
} as const satisfies AlertTable
