import type { Metrics } from '../../kernel/metrics.ts'
import { defineDomain, type DomainParts } from '../../wire/domain.ts'
import { VPN_EVENTS } from './events.ts'
import { vpnPoolJob, vpnPruneJob, vpnUpkeepJob } from './jobs.ts'
import { createSessionRegistry, type RegistryDeps } from './registry.ts'
import { VPN_ERRORS, vpnRoutes } from './routes.ts'
import { encodeAudit } from './schemas.ts'
import { createVpnService, type Vpn, type VpnDeps } from './service.ts'

export type { AuditEntry, PoolUsage, Session } from './model.ts'
export { encodeTunnels } from './schemas.ts'
export type { Vpn } from './service.ts'

/** The address pool, the sessions of all gateways and their audit trail (docs/specification.md, Gateway). */
export const vpnDomain = defineDomain({
  name: 'vpn',
  tables: ['vpn_audit', 'vpn_gateways', 'vpn_leases', 'vpn_pools', 'vpn_sessions'],
  events: VPN_EVENTS,
  errors: VPN_ERRORS,
  encodeEvent: encodeAudit,
  create: (deps: VpnDeps & Pick<RegistryDeps, 'requireTokenHolder'> & { readonly metrics: Metrics }) => {
    const vpn = createVpnService(deps)
    return {
      vpn,
      registry: (gateway: RegistryDeps['gateway']) => createSessionRegistry({ ...deps, gateway }),
      routes: vpnRoutes(vpn),
      jobs: {
        api: [vpnPoolJob(vpn, deps.metrics)],
        gateway: [vpnPoolJob(vpn, deps.metrics)],
        worker: [vpnUpkeepJob(vpn), vpnPruneJob(vpn, deps.clock)],
      },
    } satisfies DomainParts & { vpn: Vpn; registry: unknown }
  },
})
