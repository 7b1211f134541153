import type { OperationName } from '../../../api/operations.ts'
import { localNumber, localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { ResourceTimeline } from '../../../parts/resource/resource-timeline.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { session } from '../platform.ts'
import { userLabel } from '../user-names.ts'
import { pathOf } from '../view.ts'
import { AlertActions } from './alert-actions.tsx'
import {
  ALERT_TONES,
  OUTCOME_TONES,
  SEVERITY_TONES,
  type Alert,
  type AlertChange,
  type AlertDecision,
  type SilenceFor,
} from './model.ts'
import { PlatformText } from './platform-text.tsx'
import { SilenceLink } from './silence-link.tsx'
import { alertDecisions, alertHistory, alertResource } from './source.ts'
import { alertWords } from './words.ts'

export interface AlertDrawerProps {
  readonly id: string
  readonly silenceFor: SilenceFor
  readonly onClose: () => void
}

// The facts and the history stay in sight below them.
const MOST_DECISIONS = 3

/** One alert: what can be done about it, why people were notified, and its history. */
export function AlertDrawer({ id, silenceFor, onClose }: AlertDrawerProps) {
  const { history, decisions, noDecisions: empty } = alertWords()
  const model = useResource(alertResource, id)
  return (
    <ResourceDrawer id={id} model={model} titleOf={({ title }) => title} onClose={onClose}>
      {(alert) => (
        <>
          <AlertActions alert={alert} model={model} />
          <SilenceLink silence={silenceFor(alert)} />
          <ResourceTimeline
            title={decisions}
            source={alertDecisions}
            id={id}
            entryOf={decisionEntry}
            empty={empty}
            most={MOST_DECISIONS}
          />
          <AlertFacts alert={alert} />
          <ResourceTimeline title={history} source={alertHistory} id={id} entryOf={historyEntry} />
        </>
      )}
    </ResourceDrawer>
  )
}

function AlertFacts({ alert }: { readonly alert: Alert }) {
  const { fields, severities, body } = alertWords()
  const { severity, recovered_at } = alert
  return (
    <FactList
      facts={[
        [body, alert.body],
        [fields.severity, <StatusBadge tone={SEVERITY_TONES[severity]} label={severities[severity]} />],
        [fields.source, alert.source],
        [fields.alarm_id, alert.alarm_id && <AlarmLink alarmId={alert.alarm_id} />],
        [fields.server_addr, alert.server_addr],
        [fields.count, localNumber(alert.count)],
        [fields.first_at, localTime(alert.first_at)],
        [fields.last_at, localTime(alert.last_at)],
        [fields.recovered_at, recovered_at && localTime(recovered_at)],
      ]}
    />
  )
}

// What the alarm ids of the platform name (docs/specification.md, Alerts).
const NAMED_OBJECTS: Readonly<Record<string, { readonly page: string; readonly operation: OperationName }>> =
  {
    'order.timeout': { page: 'orders', operation: 'getOrder' },
    'heartbeat.missed': { page: 'heartbeats', operation: 'listHeartbeats' },
    'message.dead': { page: 'messages', operation: 'getMessage' },
    'command.incomplete': { page: 'executions', operation: 'getExecution' },
  }

/** The alarm id; that of an alert of the platform leads to the object that it is about. */
function AlarmLink({ alarmId }: { readonly alarmId: string }) {
  const [occasion = '', ...rest] = alarmId.split(':')
  const named = NAMED_OBJECTS[occasion]
  if (!named || rest.length === 0 || !session.may(named.operation)) return <bdi>{alarmId}</bdi>
  return <a href={`${pathOf({ name: named.page })}/${encodeURIComponent(rest.join(':'))}`}>{alarmId}</a>
}

function historyEntry({ at, from, to, actor, note }: AlertChange, index: number) {
  const { firstReport, statuses, by } = alertWords()
  return {
    key: `${at} ${index}`,
    at,
    tone: ALERT_TONES[to],
    title: from === null ? firstReport : statuses[to],
    note: (
      <bdi>
        {by(userLabel(actor))}
        {note !== null && ' · '}
        <PlatformText text={note} />
      </bdi>
    ),
  }
}

function decisionEntry({ id, at, occasion, channel, outcome, reason }: AlertDecision) {
  const { occasions, outcomes, decision } = alertWords()
  return {
    key: id,
    at,
    tone: OUTCOME_TONES[outcome],
    title: decision(occasions[occasion], outcomes[outcome]),
    note: (
      <bdi>
        {channel}
        {reason !== null && ' · '}
        <PlatformText text={reason} />
      </bdi>
    ),
  }
}
