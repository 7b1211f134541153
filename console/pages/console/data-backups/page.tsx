import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { localNumber, localSize, localTime } from '../../../i18n/local.ts'
import { Button } from '../../../parts/button.tsx'
import { CommandLine } from '../../../parts/command-line.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { showToast } from '../../../parts/toast.tsx'
import { useDownload } from '../../../parts/use-download.ts'
import { session, call, download } from '../platform.ts'
import { settingsResource } from '../settings/model.ts'
import { listOf, resourceOf } from '../sources.ts'
import { userLabel } from '../user-names.ts'
import { pathOf, type ViewProps, type DetailProps } from '../view.ts'
import { BACKUP_TONES, countPruned, BACKUP_FILTERS, backupIn, type DataBackup } from './model.ts'
import { restorationOf, restoreTemplate } from './restore.ts'
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

/** One data backup: how far it is, what it contains, and how it is restored. */
function BackupDrawer({ id, onClose }: DetailProps) {
  const model = useResource(backupResource, id)
  const refreshList = useListRefresh()
  const onDeleted = () => {
    refreshList()
    onClose()
  }
  return (
    <ResourceDrawer
      id={id}
      model={model}
      titleOf={({ created_at }) => localTime(created_at)}
      onClose={onClose}
    >
      {(backup) => (
        <>
          <BackupActions backup={backup} onDeleted={onDeleted} />
          {backup.status === 'running' && <BackupProgress />}
          <BackupFacts backup={backup} />
          <BackupTables backup={backup} />
          {backup.status === 'completed' && <BackupRestore backup={backup} />}
        </>
      )}
    </ResourceDrawer>
  )
}

interface BackupProps {
  readonly backup: DataBackup
}

interface BackupActionsProps extends BackupProps {
  readonly onDeleted: () => void
}

function BackupActions({ backup, onDeleted }: BackupActionsProps) {
  const words = dataBackupWords()
  const { id, status } = backup
  useEndToast(backup)
  const save = useDownload(() => download('getDataBackupFile', { path: { id } }))
  const remove = () =>
    sendChange({
      words: words.remove,
      isDestructive: true,
      send: () => call('deleteDataBackup', { path: { id } }),
      onDone: onDeleted,
    })
  return (
    <ObjectActions
      status={{ tone: BACKUP_TONES[status], label: words.statuses[status] }}
      actions={[
        status === 'completed' && session.may('getDataBackupFile') && save,
        status !== 'running' &&
          session.may('deleteDataBackup') && { title: words.remove.action, isDestructive: true, run: remove },
      ]}
    />
  )
}

/** Says how the shown backup has ended; otherwise its progress would just disappear. */
function useEndToast({ id, status }: DataBackup): void {
  const seen = useRef({ id, status })
  useEffect(() => {
    const wasRunning = seen.current.id === id && seen.current.status === 'running'
    seen.current = { id, status }
    if (wasRunning && status !== 'running')
      showToast(status === 'failed' ? 'warning' : 'good', dataBackupWords().finished[status])
  }, [id, status])
}

/** The API does not report how far a running backup is. */
function BackupProgress() {
  return (
    <div class="progress" role="status">
      <progress aria-label={dataBackupWords().statuses.running} />
      <p class="muted">{dataBackupWords().running}</p>
    </div>
  )
}

function BackupFacts({ backup }: BackupProps) {
  const { fields } = dataBackupWords()
  return (
    <FactList
      facts={[
        [fields.error, backup.error],
        [fields.note, backup.note],
        [fields.size_bytes, localSize(backup.size_bytes)],
        [fields.created_at, localTime(backup.created_at)],
        [fields.finished_at, localTime(backup.finished_at)],
        [fields.verified_at, localTime(backup.verified_at)],
        [fields.requested_by, userLabel(backup.requested_by)],
        [fields.schema_version, backup.schema_version],
        [fields.sha256, backup.sha256],
      ]}
    />
  )
}

function BackupTables({ backup: { tables } }: BackupProps) {
  if (tables === null) return null
  return (
    <details>
      <summary>{dataBackupWords().tables}</summary>
      <FactList facts={Object.entries(tables).map(([name, rows]) => [name, localNumber(rows)])} />
    </details>
  )
}

function BackupRestore({ backup }: BackupProps) {
  const words = dataBackupWords()
  return (
    <Section title={words.restore}>
      <p>{words.restoreText}</p>
      {session.may('getConfig') ? <RestoreHere backup={backup} /> : <RestoreAnywhere backup={backup} />}
    </Section>
  )
}

/** The command with the paths of this platform. */
function RestoreHere({ backup }: BackupProps) {
  const words = dataBackupWords()
  const settings = useResource(settingsResource, '')
  return (
    <ResourceView model={settings}>
      {(value) => {
        const { command, secretVariable } = restorationOf(backup, value)
        return (
          <>
            <CommandLine label={words.restore} command={command} />
            {secretVariable !== undefined && <p class="muted">{words.restoreVariable(secretVariable)}</p>}
          </>
        )
      }}
    </ResourceView>
  )
}

function RestoreAnywhere({ backup }: BackupProps) {
  const words = dataBackupWords()
  return (
    <>
      <CommandLine label={words.restore} command={restoreTemplate(backup)} />
      <p class="muted">{words.restorePlaceholders}</p>
    </>
  )
}

const PREFIX = 'data.backup.'

/** The data backups, newest first. */
const backupList = listOf('listDataBackups', PREFIX, {
  filters: BACKUP_FILTERS,
  keyOf: ({ id }) => id,
  fromEvent: (event) => (event.subject === `${PREFIX}deleted` ? 'changed' : backupIn(event)),
})

// The most that the API answers at once, and more than a data directory has room for.
const MOST_BACKUPS = 1_000

/** All data backups, newest first. */
const allBackups = resourceOf('listDataBackups', PREFIX, () => ({ query: { limit: MOST_BACKUPS } }))

/** One data backup. */
const backupResource = resourceOf('getDataBackup', PREFIX, (id) => ({ path: { id } }), {
  isAbout: (event, id) => backupIn(event)?.id === id,
})
