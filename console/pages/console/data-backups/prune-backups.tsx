import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { localNumber } from '../../../i18n/local.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { call } from '../platform.ts'
import { countPruned } from './model.ts'
import { allBackups } from './source.ts'
import { dataBackupWords } from './words.ts'

const KEPT = 7

/** Asks how many backups stay, and deletes the older ones. */
export function PruneBackups() {
  const isOpen = useSignal(false)
  return (
    <>
      <button class="button" type="button" onClick={() => (isOpen.value = true)}>
        {dataBackupWords().prune}
      </button>
      {isOpen.value && <PruneDialog onClose={() => (isOpen.value = false)} />}
    </>
  )
}

function PruneDialog({ onClose }: { readonly onClose: () => void }) {
  const words = dataBackupWords()
  const keep = useSignal<unknown>(KEPT)
  const backups = useResource(allBackups, '').value.value?.items
  const count = backups && isCount(keep.value) ? countPruned(backups, keep.value) : undefined
  return (
    <CreateDialog
      title={words.prune}
      {...(count !== undefined && { text: words.wouldPrune(localNumber(count)) })}
      schema={BODIES.pruneDataBackups}
      labels={{ keep: words.fields.keep }}
      hints={words.hints}
      initial={{ keep: String(KEPT) }}
      onChange={(body) => (keep.value = 'keep' in body ? body.keep : undefined)}
      action={words.prune}
      create={(body) => call('pruneDataBackups', { body: body as BodyOf<'pruneDataBackups'> })}
      doneOf={({ removed }) =>
        removed.length === 0 ? words.nonePruned : words.pruned(localNumber(removed.length))
      }
      onCreated={onClose}
      onClose={onClose}
    />
  )
}

/** The field may have any text while it is being written. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}
