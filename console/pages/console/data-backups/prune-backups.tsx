import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { localNumber } from '../../../i18n/local.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { call } from '../platform.ts'
import { dataBackupWords } from './words.ts'

const KEPT = '7'

/** Asks how many backups stay, and deletes the older ones. */
export function PruneBackups() {
  const words = dataBackupWords()
  const isOpen = useSignal(false)
  const close = () => (isOpen.value = false)
  return (
    <>
      <button class="button" type="button" onClick={() => (isOpen.value = true)}>
        {words.prune}
      </button>
      {isOpen.value && (
        <CreateDialog
          title={words.prune}
          schema={BODIES.pruneDataBackups}
          labels={{ keep: words.fields.keep }}
          hints={words.hints}
          initial={{ keep: KEPT }}
          action={words.prune}
          create={(body) => call('pruneDataBackups', { body: body as BodyOf<'pruneDataBackups'> })}
          doneOf={({ removed }) =>
            removed.length === 0 ? words.nonePruned : words.pruned(localNumber(removed.length))
          }
          onCreated={close}
          onClose={close}
        />
      )}
    </>
  )
}
