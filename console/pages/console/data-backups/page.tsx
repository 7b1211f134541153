import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { localNumber, localSize } from '../../../i18n/local.ts'
import { Button } from '../../../parts/button.tsx'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { session, call } from '../platform.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { BackupDrawer } from './drawer.tsx'
import { BACKUP_TONES, countPruned, type DataBackup } from './model.ts'
import { backupList, allBackups } from './source.ts'
import { dataBackupWords } from './words.ts'

/** The data backups: the list, and beside it the backup that the address names. */
export function DataBackupsPage({ id }: ViewProps) {
  const words = dataBackupWords()
  return (
    <ObjectsPage
      path={pathOf('data-backups')}
      source={backupList}
      words={words}
      columns={backupColumns()}
      icon="dataBackups"
      id={id}
      head={() => session.may('pruneDataBackups') && <PruneBackups />}
      newItem={session.may('createDataBackup') && NewBackup}
      detail={(detail) => <BackupDrawer key={detail.id} {...detail} />}
    />
  )
}

/** Asks for a note, and starts a backup. */
function NewBackup({ onClose, onCreated }: NewItemDialog) {
  const words = dataBackupWords()
  return (
    <CreateDialog
      title={words.newItem}
      schema={BODIES.createDataBackup}
      labels={{ note: words.fields.note }}
      action={words.create}
      create={(body) => call('createDataBackup', { body })}
      doneOf={() => words.started}
      onCreated={({ id }) => onCreated(id)}
      onClose={onClose}
    />
  )
}

function backupColumns(): readonly TableColumn<DataBackup>[] {
  const { fields, statuses } = dataBackupWords()
  const column = fieldColumns<DataBackup, typeof fields>(fields)
  return [
    column.exactTime('created_at'),
    column.status('status', BACKUP_TONES, statuses),
    column.cell('size_bytes', ({ size_bytes }) => localSize(size_bytes), {
      isNumeric: true,
      isWideOnly: true,
    }),
    column.text('note', { isWideOnly: true, isFromMedium: true }),
    column.time('verified_at', { isWideOnly: true }),
  ]
}

const KEPT = 7

/** Asks how many backups stay, and deletes the older ones. */
function PruneBackups() {
  const isOpen = useSignal(false)
  return (
    <>
      <Button onClick={() => (isOpen.value = true)}>{dataBackupWords().prune}</Button>
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
