import { useEffect, useRef } from 'preact/hooks'
import { localNumber, localSize, localTime } from '../../../i18n/local.ts'
import { CommandLine } from '../../../parts/command-line.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { showToast } from '../../../parts/toast.tsx'
import { useDownload } from '../../../parts/use-download.ts'
import { call, download, session } from '../platform.ts'
import { settingsResource } from '../settings/model.ts'
import { userLabel } from '../user-names.ts'
import type { DetailProps } from '../view.ts'
import { BACKUP_TONES, type DataBackup } from './model.ts'
import { restorationOf, restoreTemplate } from './restore.ts'
import { backupResource } from './source.ts'
import { dataBackupWords } from './words.ts'

/** One data backup: how far it is, what it contains, and how it is restored. */
export function BackupDrawer({ id, onClose }: DetailProps) {
  const backup = useResource(backupResource, id)
  const refreshList = useListRefresh()
  const onDeleted = () => {
    refreshList()
    onClose()
  }
  return (
    <ResourceDrawer
      id={id}
      model={backup}
      titleOf={({ created_at }) => localTime(created_at)}
      onClose={onClose}
    >
      {(shown) => (
        <>
          <BackupActions backup={shown} onDeleted={onDeleted} />
          {shown.status === 'running' && <BackupProgress />}
          <BackupFacts backup={shown} />
          <BackupTables backup={shown} />
          {shown.status === 'completed' && <BackupRestore backup={shown} />}
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
  const remove = () => {
    const { removeTitle: title, removeText: text, remove: action, removed: done } = words
    return sendChange({
      question: { title, text, action, isDestructive: true },
      send: () => call('deleteDataBackup', { path: { id } }),
      done,
      onDone: onDeleted,
    })
  }
  return (
    <ObjectActions
      status={{ tone: BACKUP_TONES[status], label: words.statuses[status] }}
      actions={[
        status === 'completed' && session.may('getDataBackupFile') && save,
        status !== 'running' &&
          session.may('deleteDataBackup') && { title: words.remove, isDestructive: true, run: remove },
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
