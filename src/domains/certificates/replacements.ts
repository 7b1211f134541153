import type { Tx } from '../../store/store.ts'
import { covers, replacementsAmong, type Certificate } from './model.ts'
import { listRelatives, setReplacedBy, type Relative } from './store.ts'

/** What follows for other certificates when one was registered, revoked or deleted. */
interface Replacements {
  /** What replaces the changed certificate itself. */
  readonly replacedBy: string | null
  /** The certificates with an alert that are replaced from now on. */
  readonly replaced: readonly Relative[]
}

/**
 * Judges again which certificate replaces which, after one has changed. Only certificates whose names it covers can be
 * affected. The transaction must have locked all replacements.
 */
export async function updateReplacements(tx: Tx, changed: Certificate): Promise<Replacements> {
  const relatives = await listRelatives(tx, changed)
  const replacements = replacementsAmong(relatives)
  const replacementOf = ({ id }: Pick<Certificate, 'id'>) => replacements.get(id) ?? null
  const affected = relatives.filter(
    (each) => covers(changed, each) && replacementOf(each) !== each.replacedBy,
  )
  for (const each of affected) await setReplacedBy(tx, each.id, replacementOf(each))
  return {
    replacedBy: replacementOf(changed),
    replaced: affected.filter((each) => replacementOf(each) !== null && each.alertStep !== null),
  }
}
