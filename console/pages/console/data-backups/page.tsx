import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { session } from '../platform.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { backupColumns } from './columns.tsx'
import { BackupDrawer } from './drawer.tsx'
import { NewBackup } from './new-backup.tsx'
import { PruneBackups } from './prune-backups.tsx'
import { backupList } from './source.ts'
import { dataBackupWords } from './words.ts'

/** The data backups: the list, and beside it the backup that the address names. */
export function DataBackupsPage({ id }: ViewProps) {
  const words = dataBackupWords()
  return (
    <ObjectsPage
      path={pathOf({ name: 'data-backups' })}
      source={backupList}
      words={words}
      columns={backupColumns(words)}
      icon="dataBackups"
      id={id}
      head={() => session.may('pruneDataBackups') && <PruneBackups />}
      newItem={
        session.may('createDataBackup') && {
          title: words.newBackup,
          dialog: (dialog) => <NewBackup {...dialog} />,
        }
      }
      detail={({ id: shown, onClose }) => <BackupDrawer key={shown} id={shown} onClose={onClose} />}
    />
  )
}
