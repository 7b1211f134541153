import { useSignal } from '@preact/signals'
import { localSeconds, localTime } from '../../../i18n/local.ts'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { call, session } from '../platform.ts'
import { alertWords } from '../alerts/words.ts'
import { WhoChanged } from '../audit/who-changed.tsx'
import { EditHeartbeat } from './heartbeat-form.tsx'
import { expectation } from './expectation.ts'
import { HEARTBEAT_TONES, type Heartbeat } from './model.ts'
import { PingAddress } from './ping-address.tsx'
import { HeartbeatPings } from './pings.tsx'
import { heartbeatWords } from './words.ts'

export interface HeartbeatDrawerProps {
  readonly heartbeat: Heartbeat
  readonly onClose: () => void
}

/** One heartbeat, as the list has it. */
export function HeartbeatDrawer({ heartbeat, onClose }: HeartbeatDrawerProps) {
  const words = heartbeatWords()
  const { name, status } = heartbeat
  const { address, beat, rotate, remove } = useHeartbeatChanges(name)
  const refreshList = useListRefresh()
  const isEditing = useSignal(false)
  return (
    <Drawer title={name} onClose={onClose}>
      <ObjectActions
        status={{ tone: HEARTBEAT_TONES[status], label: words.statuses[status] }}
        actions={[
          session.may('putHeartbeat') && { title: words.edit, run: () => (isEditing.value = true) },
          session.may('rotateHeartbeat') && { title: words.rotate, run: rotate },
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
        {address.value !== null && (
          <PingAddress
            schedule={heartbeat.schedule}
            pingUrl={address.value}
            onClose={() => (address.value = null)}
          />
        )}
      </ObjectActions>
      <HeartbeatFacts heartbeat={heartbeat} />
      <HeartbeatPings heartbeat={heartbeat} />
      <WhoChanged kind="heartbeat" id={name} version={heartbeat.updated_at} />
    </Drawer>
  )
}

/** What a person does to a heartbeat; `address` is its new one, while it is shown. */
function useHeartbeatChanges(name: string) {
  const words = heartbeatWords()
  const path = { name }
  const address = useSignal<string | null>(null)
  const refreshList = useListRefresh()
  const beat = () =>
    sendChange({
      question: { title: words.beatTitle(name), text: words.beatText, action: words.beat },
      send: () => call('beatHeartbeat', { path }),
      done: words.beatSent,
      onDone: refreshList,
    })
  const rotate = () =>
    sendChange({
      question: { title: words.rotateTitle(name), text: words.rotateText, action: words.rotate },
      send: () => call('rotateHeartbeat', { path }),
      done: words.rotated,
      onDone: ({ ping_url }) => (address.value = ping_url),
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
  return { address, beat, rotate, remove }
}

function HeartbeatFacts({ heartbeat }: { readonly heartbeat: Heartbeat }) {
  const { fields, never } = heartbeatWords()
  const { severities } = alertWords()
  const { last_beat_at, missed_at, max_run_seconds, started_at, duration_seconds } = heartbeat
  return (
    <FactList
      facts={[
        [fields.last_beat_at, last_beat_at === null ? never : localTime(last_beat_at)],
        [fields.due_at, localTime(heartbeat.due_at)],
        [fields.missed_at, missed_at && localTime(missed_at)],
        [fields.every_seconds, expectation(heartbeat)],
        [fields.grace_seconds, localSeconds(heartbeat.grace_seconds)],
        [fields.max_run_seconds, max_run_seconds && localSeconds(max_run_seconds)],
        [fields.started_at, started_at && localTime(started_at)],
        [fields.duration_seconds, duration_seconds === null ? null : localSeconds(duration_seconds)],
        [fields.severity, severities[heartbeat.severity]],
        [fields.source, heartbeat.source],
      ]}
    />
  )
}
