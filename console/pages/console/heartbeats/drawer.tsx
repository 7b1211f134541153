import { useSignal } from '@preact/signals'
import { localSeconds, localTime } from '../../../i18n/local.ts'
import { CommandLine } from '../../../parts/command-line.tsx'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { Section } from '../../../parts/section.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { call, session } from '../platform.ts'
import { alertWords } from '../alerts/words.ts'
import { EditHeartbeat } from './heartbeat-form.tsx'
import { beatCommand, HEARTBEAT_TONES, type Heartbeat } from './model.ts'
import { heartbeatWords } from './words.ts'

export interface HeartbeatDrawerProps {
  readonly heartbeat: Heartbeat
  readonly onClose: () => void
}

/** One heartbeat. The API has no operation for one alone, so it is that of the list. */
export function HeartbeatDrawer({ heartbeat, onClose }: HeartbeatDrawerProps) {
  const words = heartbeatWords()
  const { name, status } = heartbeat
  const path = { name }
  const refreshList = useListRefresh()
  const isEditing = useSignal(false)
  const beat = () =>
    sendChange({
      question: { title: words.beatTitle(name), text: words.beatText, action: words.beat },
      send: () => call('beatHeartbeat', { path }),
      done: words.beatSent,
      onDone: refreshList,
    })
  const remove = () => {
    const { removeText: text, remove: action } = words
    return sendChange({
      question: { title: words.removeTitle(name), text, action, isDestructive: true },
      send: () => call('deleteHeartbeat', { path }),
      done: words.removed,
      onDone: refreshList,
    })
  }
  return (
    <Drawer title={name} onClose={onClose}>
      <ObjectActions
        status={{ tone: HEARTBEAT_TONES[status], label: words.statuses[status] }}
        actions={[
          session.may('putHeartbeat') && { title: words.edit, run: () => (isEditing.value = true) },
          session.may('beatHeartbeat') && { title: words.beat, run: beat },
          session.may('deleteHeartbeat') && { title: words.remove, isDestructive: true, run: remove },
        ]}
      >
        {isEditing.value && (
          <EditHeartbeat
            heartbeat={heartbeat}
            onSaved={refreshList}
            onClose={() => (isEditing.value = false)}
          />
        )}
      </ObjectActions>
      <HeartbeatFacts heartbeat={heartbeat} />
      <Section title={words.command}>
        <p>{words.commandText}</p>
        <CommandLine label={words.command} command={beatCommand(heartbeat, location.origin)} />
      </Section>
    </Drawer>
  )
}

function HeartbeatFacts({ heartbeat }: { readonly heartbeat: Heartbeat }) {
  const { fields, never } = heartbeatWords()
  const { severities } = alertWords()
  const { last_beat_at, missed_at } = heartbeat
  return (
    <FactList
      facts={[
        [fields.last_beat_at, last_beat_at === null ? never : localTime(last_beat_at)],
        [fields.due_at, localTime(heartbeat.due_at)],
        [fields.missed_at, missed_at && localTime(missed_at)],
        [fields.every_seconds, localSeconds(heartbeat.every_seconds)],
        [fields.grace_seconds, localSeconds(heartbeat.grace_seconds)],
        [fields.severity, severities[heartbeat.severity]],
        [fields.source, heartbeat.source],
      ]}
    />
  )
}
