import { changesBetween } from '../../kernel/audit.ts'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Reconciliation } from '../../domains/payments/index.ts'
import { invalidField } from '../../kernel/errors.ts'
import { openConfigured } from '../payment-channels.ts'
import { commandDomains } from './command-domains.ts'
import {
  commandRecord,
  COMMAND_LINE,
  configOf,
  withStore,
  type CommandContext,
  type ConfigOptions,
} from './context.ts'
import { releaseStartMemory } from './start-memory.ts'

interface ReconcileOptions extends ConfigOptions {
  readonly channel: string
  readonly date: string
  readonly file?: string
}

const MATCHED = 0
const NOT_MATCHED = 1
// docs/reference/commands.md
const WRONG_USAGE = 2
const SHOWN = 20

/** `platform payments reconcile`: compares a day with the provider's books, and prints the first differences. */
export async function reconcilePayments(context: CommandContext, options: ReconcileOptions): Promise<number> {
  const { channel: name, date } = options
  const loaded = configOf(context, options)
  const { config } = loaded
  const configured = config.payments.channels.find((each) => each.name === name)
  const fault = configured
    ? fileFault(context, options)
    : `there is no payment channel ${JSON.stringify(name)} in the configuration`
  if (!configured || fault !== undefined) {
    context.stderr.write(`platform: ${fault}\n`)
    return WRONG_USAGE
  }
  const file = options.file === undefined ? undefined : resolve(context.cwd, options.file)
  const channel = await openConfigured(config, configured)
  try {
    return await withStore(loaded, async (store) => {
      const { domains } = commandDomains({ config, store, channels: new Map([[name, channel]]) })
      const { reconciliations } = domains.payments
      const { audit } = domains.audit
      // A bill of a million rows must leave room for others on a small host.
      releaseStartMemory()
      const run = await reconciliations.runNow(name, date, file, COMMAND_LINE, (tx, { id }) =>
        audit.record(
          tx,
          commandRecord(
            context,
            'payments.reconcile',
            { kind: 'reconciliation', id },
            changesBetween(undefined, { channel: name, date }),
          ),
        ),
      )
      context.stdout.write(`${summaryOf(run)}\n`)
      const { items, next } = await reconciliations.differences(
        { reconciliationId: run.id },
        { limit: SHOWN },
      )
      for (const each of items)
        context.stdout.write(
          `${each.kind} ${each.type} ${each.number}: here ${sideText(each.hereStatus, each.hereCents)}, there ${sideText(each.thereStatus, each.thereCents)}\n`,
        )
      if (next) context.stdout.write(`… ${run.differences - items.length} more\n`)
      return run.status === 'matched' ? MATCHED : NOT_MATCHED
    })
  } finally {
    await channel.end()
  }
}

function fileFault({ cwd }: CommandContext, { file, date }: ReconcileOptions): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date))
    return invalidField('--date', 'invalid', { reason: 'must be YYYY-MM-DD' }).message
  if (file === undefined || statSync(resolve(cwd, file), { throwIfNoEntry: false })?.isFile())
    return undefined
  return `there is no file ${file}`
}

function summaryOf({ channel, date, status, matched, differences, error }: Reconciliation): string {
  const what = status === 'failed' ? error : `${matched} matched, ${differences} differ`
  return `${channel} ${date}: ${status}; ${what}`
}

function sideText(status: string | null, cents: number | null): string {
  return status === null ? 'nothing' : `${status} ${cents} cents`
}
