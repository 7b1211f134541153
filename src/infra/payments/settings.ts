import type { Dispatcher } from 'undici'
import type { Clock } from '../../kernel/clock.ts'
import type { ChannelSettings } from '../../ports/payments.ts'

export interface ChannelDeps {
  readonly clock: Clock
  /** Whose days a bill is of, where the provider has no days of its own: Stripe. UTC by default. */
  readonly timeZone?: string
  /** Replaces the connections of the channel; the caller closes it. */
  readonly dispatcher?: Dispatcher
}

/** The value of a variable of the secrets file. The configuration has checked that each is there. */
export function secretOf({ name, secrets }: ChannelSettings, variable: string): string {
  const value = secrets[variable]
  if (value === undefined || value === '')
    throw new Error(`payments.channels.${name}: expected ${variable} in its secrets file, found none`)
  return value
}
