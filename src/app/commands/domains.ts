import type { LoadedConfig } from '../../config/config.ts'
import type { AuditRecord } from '../../kernel/audit.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { noMetrics } from '../../kernel/metrics.ts'
import { Secret } from '../../kernel/secret.ts'
import type { Delivery } from '../../ports/outbox.ts'
import { readOnly } from '../../store/open.ts'
import type { Store, Tx } from '../../store/store.ts'
import { createDomains, type Domains, type DomainsOptions } from '../domains.ts'
import { commandRecord, withStore, type CommandContext } from './context.ts'

interface CommandDomainsOptions extends Pick<DomainsOptions, 'config' | 'store'> {
  /** Left out by commands that sign nothing. */
  readonly signingKeys?: DomainsOptions['signingKeys']
  /** Left out by commands that call no payment provider. */
  readonly channels?: DomainsOptions['channels']
}

interface CommandDomains {
  /** The store that the domains use: read-only where the platform is. */
  readonly store: Store
  readonly domains: Domains
}

/** The domains for a command. */
export function commandDomains({
  config,
  store: opened,
  signingKeys = () => [new Secret('')],
  channels,
}: CommandDomainsOptions): CommandDomains {
  const store = config.readOnly ? readOnly(opened) : opened
  const silent = { clock: systemClock, logger: silentLogger, metrics: noMetrics }
  const deliveries = { delivery: NO_DELIVERY, telemetryDelivery: NO_DELIVERY }
  const keys = { signingKeys, ...(channels && { channels }) }
  return { store, domains: createDomains({ config, store, ...silent, ...deliveries, ...keys }) }
}

/** A command leaves its events in the outbox; a running process delivers them. */
const NO_DELIVERY: Delivery = { wake: () => undefined, waitForSettlement: () => Promise.resolve() }

export interface OpenDomains extends CommandDomains {
  /** Records the command in the audit trail. */
  record(
    tx: Tx,
    command: string,
    target: AuditRecord['target'],
    changes?: AuditRecord['changes'],
  ): Promise<void>
}

/** Runs `use` with the domains of the configured database, which must exist and is migrated to the current schema. */
export function withDomains<T>(
  context: Pick<CommandContext, 'env'>,
  loaded: LoadedConfig,
  use: (opened: OpenDomains) => Promise<T>,
  options: Omit<CommandDomainsOptions, 'config' | 'store'> = {},
): Promise<T> {
  return withStore(loaded, (opened) => {
    const { store, domains } = commandDomains({ config: loaded.config, store: opened, ...options })
    const { service: audit } = domains.audit
    return use({
      store,
      domains,
      record: (tx, ...what) => audit.record(tx, commandRecord(context, ...what)),
    })
  })
}
