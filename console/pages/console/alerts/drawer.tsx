import { localNumber, localTime } from '../../../i18n/local.ts'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { EmptyState } from '../../../parts/states.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { AlertActions } from './alert-actions.tsx'
import { ALERT_TONES, OUTCOME_TONES, SEVERITY_TONES, type Alert, type AlertDecision } from './model.ts'
import { alertDecisions, alertHistory, alertResource } from './source.ts'
import { alertWords } from './words.ts'

export interface AlertDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** One alert: what can be done about it, its history, and why people were notified. */
export function AlertDrawer({ id, onClose }: AlertDrawerProps) {
  const alert = useResource(alertResource, id)
  return (
    <Drawer title={alert.value.value?.title ?? id} onClose={onClose}>
      <ResourceView model={alert}>
        {(shown) => (
          <>
            <AlertActions alert={shown} model={alert} />
            <AlertFacts alert={shown} />
            <AlertHistory id={id} />
            <AlertDecisions id={id} />
          </>
        )}
      </ResourceView>
    </Drawer>
  )
}

function AlertFacts({ alert }: { readonly alert: Alert }) {
  const { fields, severities, body } = alertWords()
  const { severity } = alert
  return (
    <FactList
      facts={[
        [fields.severity, <StatusBadge tone={SEVERITY_TONES[severity]} label={severities[severity]} />],
        [fields.source, alert.source],
        ...(alert.alarm_id === null ? [] : [[fields.alarm_id, alert.alarm_id] as const]),
        ...(alert.server_addr === null ? [] : [[fields.server_addr, alert.server_addr] as const]),
        [fields.count, localNumber(alert.count)],
        [fields.first_at, localTime(alert.first_at)],
        [fields.last_at, localTime(alert.last_at)],
        ...(alert.recovered_at === null
          ? []
          : [[fields.recovered_at, localTime(alert.recovered_at)] as const]),
        ...(alert.body === '' ? [] : [[body, alert.body] as const]),
      ]}
    />
  )
}

function AlertHistory({ id }: { readonly id: string }) {
  const words = alertWords()
  const history = useResource(alertHistory, id)
  return (
    <section>
      <h3 class="section-title">{words.history}</h3>
      <ResourceView model={history}>
        {({ items }) => (
          <Timeline
            label={words.history}
            entries={items.map(({ at, from, to, actor, note }, index) => ({
              key: `${at} ${index}`,
              at,
              tone: ALERT_TONES[to],
              title: from === null ? words.firstReport : words.statuses[to],
              note: <bdi>{[words.by(actor), note].filter(Boolean).join(' · ')}</bdi>,
            }))}
          />
        )}
      </ResourceView>
    </section>
  )
}

function AlertDecisions({ id }: { readonly id: string }) {
  const words = alertWords()
  const decisions = useResource(alertDecisions, id)
  return (
    <section>
      <h3 class="section-title">{words.decisions}</h3>
      <ResourceView model={decisions}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title={words.noDecisions} />
          ) : (
            <Timeline label={words.decisions} entries={items.map(decisionEntry)} />
          )
        }
      </ResourceView>
    </section>
  )
}

function decisionEntry({ id, at, occasion, channel, outcome, reason }: AlertDecision) {
  const { occasions, outcomes } = alertWords()
  return {
    key: id,
    at,
    tone: OUTCOME_TONES[outcome],
    title: `${occasions[occasion]}: ${outcomes[outcome]}`,
    note: <bdi>{[channel, reason].filter(Boolean).join(' · ')}</bdi>,
  }
}
