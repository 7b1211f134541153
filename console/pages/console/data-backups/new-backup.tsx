import { BODIES } from '../../../api/generated.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { call } from '../platform.ts'
import { dataBackupWords } from './words.ts'

/** Asks for a note, and starts a backup. */
export function NewBackup({ onClose, onCreated }: NewItemDialog) {
  const words = dataBackupWords()
  return (
    <CreateDialog
      title={words.newBackup}
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
