import { once } from 'node:events'
import { rotateAuditKey } from '../../config/secrets.ts'
import {
  encodeEntry,
  formatSeal,
  parseSeal,
  parseTarget,
  type TrailEntry,
  type AuditFault,
  type TrailFilter,
  type AuditSeal,
} from '../../domains/audit/index.ts'
import { invalidField } from '../../kernel/errors.ts'
import { OLDEST_FIRST, type PageRequest } from '../../kernel/page.ts'
import { alignColumns } from '../../kernel/text.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import { parseTime } from '../../wire/codec.ts'
import { withDomains } from './domains.ts'
import { commandRecord, configOf, type CommandContext, type ConfigOptions } from './context.ts'

interface FilterOptions extends ConfigOptions {
  readonly actor?: string
  readonly operation?: string
  readonly target?: string
  readonly from?: string
  readonly to?: string
}

const INTACT = 0
const TAMPERED = 1
const DEFAULT_LIMIT = 50
const HIGHEST_LIMIT = 1_000
const EXPORT_PART = 500

/** `platform audit list`: the newest rows, the newest last. */
export async function printAudit(
  context: CommandContext,
  options: FilterOptions & { readonly limit?: string },
): Promise<void> {
  const limit = options.limit === undefined ? DEFAULT_LIMIT : Number(options.limit)
  if (!Number.isInteger(limit) || limit < 1 || limit > HIGHEST_LIMIT)
    throw invalidField('--limit', 'out_of_range', { minimum: 1, maximum: HIGHEST_LIMIT })
  const { items } = await withDomains(context, configOf(context, options), ({ domains }) =>
    domains.audit.service.list(filterOf(options), { ...timesOf(options), limit }),
  )
  const rows = items.toReversed().map(rowOf)
  context.stdout.write(alignColumns([['AT', 'ACTOR', 'OPERATION', 'TARGET', 'OUTCOME', 'CHANGES'], ...rows]))
}

function rowOf({ at, actor, operation, target, outcome, changes }: TrailEntry): string[] {
  const what = target.id === null ? target.kind : `${target.kind}:${target.id}`
  return [
    toRfc3339(at),
    `${actor.name} (${actor.kind})`,
    operation,
    what,
    outcome,
    Object.keys(changes).join(','),
  ]
}

/** `platform audit export`; ends when the reader of a pipe has closed it. */
export async function exportAudit(context: CommandContext, options: FilterOptions): Promise<void> {
  const closed = new AbortController()
  context.stdout.on('error', () => closed.abort())
  await withDomains(context, configOf(context, options), async ({ domains }) => {
    const page = { ...timesOf(options), limit: EXPORT_PART, order: OLDEST_FIRST }
    for await (const part of domains.audit.service.all(filterOf(options), page))
      for (const entry of part) {
        if (closed.signal.aborted) return
        await print(context, `${encodeEntry(entry)}\n`, closed.signal)
      }
  })
}

/** A slow reader of a pipe must not fill the memory. */
async function print({ stdout }: CommandContext, text: string, closed: AbortSignal): Promise<void> {
  if (stdout.write(text)) return
  await once(stdout, 'drain', { signal: closed }).catch(() => undefined)
}

/** `platform audit verify`: 0 if the trail is as it was sealed, else 1. */
export async function verifyAudit(
  context: CommandContext,
  options: ConfigOptions & { readonly seal?: readonly string[] },
): Promise<number> {
  const kept = (options.seal ?? []).map((seal) => sealOf('--seal', seal))
  const verdict = await withDomains(context, configOf(context, options), ({ domains }) =>
    domains.audit.seals.verify(kept),
  )
  const { fault, checked, unsealed, newest } = verdict
  if (fault) {
    context.stdout.write(`${faultText(fault)}\n`)
    return TAMPERED
  }
  const seal = newest ? `newest seal ${formatSeal(newest)}` : 'there is no seal yet'
  context.stdout.write(`${checked} rows are as they were sealed, ${unsealed} have no seal yet; ${seal}\n`)
  return INTACT
}

function sealOf(parameter: string, text: string): AuditSeal {
  const seal = parseSeal(text)
  if (!seal) throw invalidField(parameter, 'not_matching', { pattern: 'number:code, as the log has it' })
  return seal
}

/** One sentence for the first fault. Each fault may also have a harmless cause. */
function faultText({ fault, seq, page, row, other, keyId, seal }: AuditFault): string {
  const named = row ? `Row ${seq} (${row.operation}, ${toRfc3339(row.at)}, id ${row.id})` : `Row ${seq}`
  const kept = seal ? formatSeal(seal) : ''
  return {
    changed: `${named} was changed after it was sealed.`,
    removed: `${named} was removed.`,
    put_in: `${named} was put in after its neighbours were sealed.`,
    swapped: `${named} was swapped with row ${other}.`,
    seal_changed: `The seal of page ${page} was changed.`,
    page_missing: `Page ${page} was removed, and the trail does not say that it was removed for its age.`,
    cut_off: `The end was cut off: the trail does not reach the seal ${kept}, or the database was restored from an older backup.`,
    replaced: `The trail was replaced: it has other rows than the seal ${kept} stands for, or the database was restored.`,
    key_unknown: `Page ${page} is sealed with the key ${keyId}, which is not in the file audit-key of this host: add the key of the host that sealed it.`,
  }[fault]
}

/** `platform audit rotate` */
export async function rotateAudit(context: CommandContext, options: ConfigOptions): Promise<void> {
  const loaded = configOf(context, options)
  const { dataDir } = loaded.config
  await withDomains(context, loaded, async ({ store, record }) => {
    rotateAuditKey(dataDir)
    await store.write((tx) => record(tx, 'audit.rotate', { kind: 'audit', id: null }))
  })
  context.stdout.write(`made a new key in ${dataDir}/audit-key; save the file\n`)
}

/** `platform audit accept`: after a trail was cut off or replaced, and somebody knows why. */
export async function acceptAudit(
  context: CommandContext,
  seal: string,
  options: ConfigOptions,
): Promise<void> {
  const record = commandRecord(context, 'audit.accept', { kind: 'audit', id: null })
  const newest = await withDomains(context, configOf(context, options), ({ domains }) =>
    domains.audit.seals.accept(sealOf('SEAL', seal), record),
  )
  const kept = newest ? `now keeps ${formatSeal(newest)}` : 'keeps none until the next one'
  context.stdout.write(`accepted the trail as it is: this host ${kept}; the trail names the missing seal\n`)
}

function filterOf({ actor, operation, target }: FilterOptions): TrailFilter {
  return {
    ...(actor !== undefined && { actor }),
    ...(operation !== undefined && { operation }),
    ...(target !== undefined && { target: parseTarget(target) }),
  }
}

function timesOf({ from, to }: FilterOptions): Pick<PageRequest, 'createdFrom' | 'createdTo'> {
  return {
    ...(from !== undefined && { createdFrom: parseTime('--from', from) }),
    ...(to !== undefined && { createdTo: parseTime('--to', to) }),
  }
}
