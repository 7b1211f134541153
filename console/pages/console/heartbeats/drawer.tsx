import type { ApiResult } from '../../../api/operations.ts'
import { localNumber, localTime } from '../../../i18n/local.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { describeFailure } from '../../../parts/failure-words.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { showToast } from '../../../parts/toast.tsx'
import { call, session } from '../platform.ts'
import { HEARTBEAT_TONES, type Heartbeat } from './model.ts'
import { heartbeatWords } from './words.ts'

export interface HeartbeatDrawerProps {
  readonly heartbeat: Heartbeat
  readonly onClose: () => void
  readonly onChange: () => void
}

/** One heartbeat. The API has no operation for one alone, so it is that of the list. */
export function HeartbeatDrawer({ heartbeat, onClose, onChange }: HeartbeatDrawerProps) {
  const words = heartbeatWords()
  const { name, status } = heartbeat
  const finish = (result: ApiResult<undefined>, done: string) => {
    if (!result.ok) return showToast('warning', describeFailure(result.failure))
    showToast('good', done)
    onChange()
  }
  const beat = async () => finish(await call('beatHeartbeat', { path: { name } }), words.beatSent)
  const remove = async () => {
    const { removeText: text, remove: action } = words
    if (!(await confirmAction({ title: words.removeTitle(name), text, action, isDestructive: true }))) return
    finish(await call('deleteHeartbeat', { path: { name } }), words.removed)
  }
  return (
    <Drawer title={name} onClose={onClose}>
      <div class="actions">
        <StatusBadge tone={HEARTBEAT_TONES[status]} label={words.statuses[status]} />
        {session.may('beatHeartbeat') && (
          <button class="button" type="button" onClick={() => void beat()}>
            {words.beat}
          </button>
        )}
        {session.may('deleteHeartbeat') && (
          <button class="button button-danger" type="button" onClick={() => void remove()}>
            {words.remove}
          </button>
        )}
      </div>
      <HeartbeatFacts heartbeat={heartbeat} />
    </Drawer>
  )
}

function HeartbeatFacts({ heartbeat }: { readonly heartbeat: Heartbeat }) {
  const { fields, never } = heartbeatWords()
  const { last_beat_at, missed_at } = heartbeat
  return (
    <FactList
      facts={[
        [fields.last_beat_at, last_beat_at === null ? never : localTime(last_beat_at)],
        [fields.due_at, localTime(heartbeat.due_at)],
        ...(missed_at === null ? [] : [[fields.missed_at, localTime(missed_at)] as const]),
        [fields.every_seconds, localNumber(heartbeat.every_seconds)],
        [fields.grace_seconds, localNumber(heartbeat.grace_seconds)],
        [fields.severity, heartbeat.severity],
        [fields.source, heartbeat.source],
      ]}
    />
  )
}
