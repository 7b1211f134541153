import { changesBetween } from '../../kernel/audit.ts'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Difference, Reconciliation } from '../../domains/payments/index.ts'
import { invalidField } from '../../kernel/errors.ts'
import { openConfigured } from '../payment-channels.ts'
import { withDomains, type OpenDomains } from './domains.ts'
import { COMMAND_LINE, configOf, type CommandContext, type ConfigOptions } from './context.ts'
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
const MOST_DIFFERENCES = 20

/** `platform payments reconcile`: compares a day with the provider's books, and prints the first differences. */
export async function reconcilePayments(context: CommandContext, options: ReconcileOptions): Promise<number> {
  const { channel: name, date } = options
  const loaded = configOf(context, options)
  const { config } = loaded
  const configured = config.payments.channels.find((channel) => channel.name === name)
  const fault = configured
    ? fileFault(context, options)
    : `there is no payment channel ${JSON.stringify(name)} in the configuration`
  if (!configured || fault !== undefined) {
    context.stderr.write(`platform: ${fault}\n`)
    return WRONG_USAGE
  }
  const file = options.file === undefined ? undefined : resolve(context.cwd, options.file)
  const channel = await openConfigured(config, configured)
  const reconcile = async ({ domains: { payments }, record }: OpenDomains) => {
    // A bill of a million rows must leave room for others on a small host.
    releaseStartMemory()
    const { reconciliations } = payments
    const changes = changesBetween(undefined, { channel: name, date })
    const run = await reconciliations.runNow(name, date, file, COMMAND_LINE, (tx, { id }) =>
      record(tx, 'payments.reconcile', { kind: 'reconciliation', id }, changes),
    )
    const ofRun = { reconciliationId: run.id }
    const { items, next } = await reconciliations.differences(ofRun, { limit: MOST_DIFFERENCES })
    const rest = next ? [`… ${run.differences - items.length} more`] : []
    const lines = [summaryOf(run), ...items.map(differenceText), ...rest]
    context.stdout.write(lines.map((line) => `${line}\n`).join(''))
    return run.status === 'matched' ? MATCHED : NOT_MATCHED
  }
  try {
    return await withDomains(context, loaded, reconcile, { channels: new Map([[name, channel]]) })
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

function differenceText(difference: Difference): string {
  const { kind, type, number, hereStatus, hereCents, thereStatus, thereCents } = difference
  const there = sideText(thereStatus, thereCents)
  return `${kind} ${type} ${number}: here ${sideText(hereStatus, hereCents)}, there ${there}`
}

function sideText(status: string | null, cents: number | null): string {
  return status === null ? 'nothing' : `${status} ${cents} cents`
}
