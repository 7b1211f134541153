import type { Config } from '../../config/config.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { Secret } from '../../kernel/secret.ts'
import type { Delivery } from '../../ports/outbox.ts'
import { readOnly } from '../../store/open.ts'
import type { Store } from '../../store/store.ts'
import { createDomains, type Domains, type DomainsOptions } from '../domains.ts'

interface CommandDomainsOptions {
  readonly config: Config
  readonly store: Store
  /** Left out by commands that sign nothing. */
  readonly signingKeys?: DomainsOptions['signingKeys']
  /** Left out by commands that call no payment provider. */
  readonly channels?: DomainsOptions['channels']
}

/** The domains for a command, with the store that they use: read-only where the platform is. */
export function commandDomains({
  config,
  store: opened,
  signingKeys = () => [new Secret('')],
  channels = new Map(),
}: CommandDomainsOptions): { readonly store: Store; readonly domains: Domains } {
  const store = config.readOnly ? readOnly(opened) : opened
  const silent = { clock: systemClock, logger: silentLogger, metrics: noMetrics }
  const deliveries = { delivery: NO_DELIVERY, telemetryDelivery: NO_DELIVERY }
  return { store, domains: createDomains({ config, store, ...silent, ...deliveries, signingKeys, channels }) }
}

/** A command leaves its events in the outbox; a running process delivers them. */
const NO_DELIVERY: Delivery = { wake: () => undefined, waitForSettlement: () => Promise.resolve() }
