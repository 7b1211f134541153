import { isolated } from '../../../i18n/isolated.ts'
import { localNumber, localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { ResourceTimeline } from '../../../parts/resource/resource-timeline.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { userLabel } from '../user-names.ts'
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
import { namedObject } from './named-object.ts'
import { WhoChanged } from '../audit/who-changed.tsx'
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
          <NamedObjectLink alarmId={alert.alarm_id} />
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
          <WhoChanged kind="alert" id={id} version={alert.status} />
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

/** The alarm id; that of an alert of the platform leads to the object that it is about. */
function AlarmLink({ alarmId }: { readonly alarmId: string }) {
  const named = namedObject(alarmId)
  return named ? <a href={named.href}>{alarmId}</a> : <bdi>{alarmId}</bdi>
}

/** Leads to the object that an alert of the platform is about, by its name. */
function NamedObjectLink({ alarmId }: { readonly alarmId: string | null }) {
  const named = alarmId === null ? undefined : namedObject(alarmId)
  if (!named) return null
  return (
    <a class="button" href={named.href}>
      {alertWords().named[named.page](isolated(named.id))}
    </a>
  )
}

function historyEntry({ at, from, to, actor, note, cause }: AlertChange, index: number) {
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
        <PlatformText text={note} cause={cause} />
      </bdi>
    ),
  }
}

function decisionEntry({ id, at, occasion, channel, outcome, reason, cause }: AlertDecision) {
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
        <PlatformText text={reason} cause={cause} />
      </bdi>
    ),
  }
}
