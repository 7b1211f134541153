export type { VpnEvents } from './audit.ts'
export { createEnding, type Ending, type EndingDeps } from './ending.ts'
export type { VpnEvent } from './events.ts'
export { vpnPoolJob, vpnPruneJob, vpnUpkeepJob } from './jobs.ts'
export type { AuditEntry, PoolUsage, Session, SessionEnd } from './model.ts'
export type { Refusal } from './refusals.ts'
export {
  createSessionRegistry,
  type RegisteredSession,
  type RegistryDeps,
  type SessionRegistry,
  type SessionRequest,
} from './registry.ts'
export { vpnRoutes } from './routes.ts'
export type { TunnelsWire } from './schemas.ts'
export { createVpnService, type Vpn, type VpnDeps } from './service.ts'
export type { SessionNews } from './store.ts'
export type { VpnAlert } from './upkeep.ts'
