import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { serverClock } from '../../../api/browser.ts'
import { BODIES } from '../../../api/generated.ts'
import type { OperationName, AnswerOf } from '../../../api/operations.ts'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { localNumber, localTime, localDuration } from '../../../i18n/local.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { LinkedText } from '../../../parts/linked-text.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ChangeDialog } from '../../../parts/resource/change-dialog.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { ResourceTimeline } from '../../../parts/resource/resource-timeline.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { useResource, type ResourceSource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { WhoChanged } from '../audit/who-changed.tsx'
import type { PageName } from '../page-words.ts'
import { session, call } from '../platform.ts'
import { NewSilence } from '../silences/new-silence.tsx'
import { byUser } from '../user-names.ts'
import { pathOf } from '../view.ts'
import {
  ALERT_CHANGE_TONES,
  OUTCOME_TONES,
  SEVERITY_TONES,
  alertResource,
  alertTimeline,
  ALERT_TONES,
  silenceForm,
  acknowledgeFor,
  type Alert,
  type AlertChange,
  type AlertDecision,
  type SilenceFor,
  type AlertMoment,
} from './model.ts'
import { SilenceLink } from './silence-link.tsx'
import { alertWords } from './words.ts'

export interface AlertDrawerProps {
  readonly id: string
  readonly silenceFor: SilenceFor
  readonly onClose: () => void
}

// The facts stay in sight below them.
const MOST_MOMENTS = 6

/** One alert: what can be done about it, whom it goes to, and what has happened. */
export function AlertDrawer({ id, silenceFor, onClose }: AlertDrawerProps) {
  const model = useResource(alertResource, id)
  return (
    <ResourceDrawer id={id} model={model} titleOf={({ title }) => title} onClose={onClose}>
      {(alert) => (
        <>
          <AlertActions alert={alert} model={model} />
          <NamedObjectLink alarmId={alert.alarm_id} />
          <SilenceLink silence={silenceFor(alert)} />
          <AlertFacts alert={alert} />
          <AlertRoute id={id} />
          <ResourceTimeline
            title={alertWords().timeline}
            source={alertTimeline}
            id={id}
            entryOf={momentEntry}
            most={MOST_MOMENTS}
          />
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
        [fields.runbook_url, alert.runbook_url && <LinkedText text={alert.runbook_url} />],
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
      {alertWords().named[named.page](isolateText(named.id))}
    </a>
  )
}

function momentEntry(moment: AlertMoment, index: number) {
  return 'change' in moment ? changeEntry(moment.change, index) : decisionEntry(moment.decision)
}

function changeEntry({ at, from, to, actor, note, cause }: AlertChange, index: number) {
  const { firstReport, statuses } = alertWords()
  return {
    key: `${at} ${index}`,
    at,
    tone: ALERT_CHANGE_TONES[to],
    title: from === null ? firstReport : statuses[to],
    note: (
      <bdi>
        {byUser(actor)}
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

type NamedPage = 'orders' | 'heartbeats' | 'messages' | 'executions' | 'payments' | 'reconciliations'

interface NamedKind {
  readonly page: NamedPage
  readonly operation: OperationName
  /** The alarm id names none of the objects of the page. */
  readonly isList?: boolean
}

// What the alarm ids of the platform name (docs/specification.md, Alerts).
const NAMED_OBJECTS: Readonly<Record<string, NamedKind>> = {
  'order.timeout': { page: 'orders', operation: 'getOrder' },
  'heartbeat.missed': { page: 'heartbeats', operation: 'listHeartbeats' },
  'message.dead': { page: 'messages', operation: 'getMessage' },
  'command.incomplete': { page: 'executions', operation: 'getExecution' },
  'payment.late': { page: 'payments', operation: 'getPayment' },
  'payment.duplicate': { page: 'payments', operation: 'getPayment' },
  'payment.amount_mismatch': { page: 'payments', operation: 'getPayment' },
  'payment.unknown_order': { page: 'payments', operation: 'getPayment' },
  'payment.refund_failed': { page: 'payments', operation: 'getPayment' },
  'payment.reconciliation': { page: 'reconciliations', operation: 'listReconciliations', isList: true },
}

interface NamedObject {
  readonly page: NamedPage
  readonly id: string
  readonly href: string
}

/** The object that an alarm id of the platform names; undefined for another one, and without the roles for the object. */
function namedObject(alarmId: string): NamedObject | undefined {
  const [occasion = '', ...rest] = alarmId.split(':')
  const named = NAMED_OBJECTS[occasion]
  const id = rest.join(':')
  if (!named || id === '' || !session.may(named.operation)) return undefined
  return { page: named.page, id, href: named.isList ? pathOf(named.page) : pathOf(named.page, id) }
}

const alertRoute: ResourceSource<AnswerOf<'getAlertRoute'>> = {
  ...alertResource,
  read: (id, signal) => call('getAlertRoute', { path: { id } }, signal),
}

/** Whom the routes of an alert notify: those who have a message, those who get one later, and why others get none. */
function AlertRoute({ id }: { readonly id: string }) {
  const words = alertWords()
  const reasons = { ...words.outcomes, ...words.routeReasons }
  const route = useResource(alertRoute, id)
  return (
    <Section title={words.route}>
      <ResourceView model={route}>
        {({ matched, receivers }) => (
          <>
            <p class="muted">
              {words.routes}
              <bdi>{matched.join(', ')}</bdi>
            </p>
            {receivers.length === 0 && <p>{words.outcomes.disabled}</p>}
            <ul aria-label={words.route}>
              {receivers.map(({ name, at, because }, index) => (
                <li key={`${name} ${index}`}>
                  <bdi>{name}</bdi>: {reasons[because]}
                  {at !== null && ` · ${localTime(at)}`}
                </li>
              ))}
            </ul>
          </>
        )}
      </ResourceView>
    </Section>
  )
}

type Cause = NonNullable<AlertDecision['cause'] | AlertChange['cause']>
type Values = Readonly<Record<string, unknown>>

const linkTo =
  (name: 'alert' | 'silence', page: PageName, operation: OperationName) =>
  (words: string, values: Values): ComponentChildren => {
    const id = String(values[name])
    return (
      <>
        {words} {session.may(operation) ? <a href={pathOf(page, id)}>{id}</a> : id}
      </>
    )
  }

const alertLink = linkTo('alert', 'alerts', 'getAlert')
const silenceLink = linkTo('silence', 'silences', 'getSilence')

/** What the platform says about alerts, by its code; an alert or a silence that it names is a link. */
const SENTENCES: Readonly<Record<Cause['code'], (values: Values) => ComponentChildren>> = {
  no_robot: () => alertWords().sentences.noRobot,
  no_receiver: () => alertWords().sentences.noReceiver,
  damped: () => alertWords().sentences.damped,
  outside_hours: ({ route, at }) => alertWords().sentences.outsideHours(String(route), localTime(String(at))),
  acknowledged: () => alertWords().sentences.acknowledged,
  acknowledgement_lapsed: () => alertWords().occasions.acknowledgement_lapsed,
  frozen: () => alertWords().sentences.frozen,
  superseded: () => alertWords().outcomes.superseded,
  below_level: ({ severity, least }) =>
    alertWords().sentences.belowLevel(severityName(severity), severityName(least)),
  inhibited: (values) => (
    <>
      {alertLink(alertWords().sentences.inhibitedBy, values)} ({values['alarm_id']}).
    </>
  ),
  silenced: (values) => (
    <>
      {silenceLink(alertWords().sentences.silencedBy, values)}: <LinkedText text={String(values['reason'])} />
    </>
  ),
  sent: ({ message, warning }) => [alertWords().sentences.sentIn(String(message)), warning].join(' ').trim(),
  bundled: ({ others, message, warning }) =>
    [alertWords().sentences.sentWith(Number(others), String(message)), warning].join(' ').trim(),
  swings: ({ swings, reports }) => alertWords().sentences.swings(Number(swings), Number(reports)),
  never_pushed: ({ because, ...values }) => (
    <>
      {alertWords().sentences.neverPushed}{' '}
      {typeof because === 'string' && SENTENCES[because as Cause['code']]?.(values)}
    </>
  ),
}

interface PlatformTextProps {
  /** Why people were notified, or not, or a note in the history. */
  readonly text: string | null
  readonly cause: Cause | null
}

/** A text of the platform in the language of the reader; that of a person or a robot is shown as it is. */
function PlatformText({ text, cause }: PlatformTextProps) {
  const say = cause && SENTENCES[cause.code]
  return say ? <>{say(cause.values)}</> : <LinkedText text={text ?? ''} />
}

function severityName(raw: unknown): string {
  return alertWords().severities[raw as Alert['severity']] ?? String(raw)
}

interface AlertActionsProps {
  readonly alert: Alert
  readonly model: ResourceModel<Alert>
}

/** What the user may do about an alert in its present state. */
function AlertActions({ alert, model }: AlertActionsProps) {
  const words = alertWords()
  const dialog = useSignal<'acknowledge' | 'silence' | null>(null)
  const { apply, applyAndReport } = useChange(model)
  const { id, status } = alert
  const close = () => (dialog.value = null)
  const recover = async () => {
    const { done, ...question } = words.recover
    if (!(await confirmAction(question))) return
    await applyAndReport({ send: () => call('recoverAlert', { path: { id } }), done })
  }
  const unfreeze = () =>
    applyAndReport({ send: () => call('unfreezeAlert', { path: { id } }), done: words.unfrozen })
  return (
    <ObjectActions
      status={{ tone: ALERT_TONES[status], label: words.statuses[status] }}
      actions={[
        status === 'firing' &&
          session.may('acknowledgeAlert') && {
            title: words.acknowledge,
            run: () => (dialog.value = 'acknowledge'),
          },
        session.may('createSilence') && { title: words.silence, run: () => (dialog.value = 'silence') },
        status !== 'recovered' &&
          session.may('recoverAlert') && { title: words.recover.action, run: recover },
        status === 'frozen' && session.may('unfreezeAlert') && { title: words.unfreeze, run: unfreeze },
      ]}
    >
      {dialog.value === 'acknowledge' && <Acknowledge id={id} apply={apply} onClose={close} />}
      {dialog.value === 'silence' && (
        <NewSilence initial={silenceForm([alert], serverClock.now())} onClose={close} />
      )}
    </ObjectActions>
  )
}

interface AcknowledgeProps {
  readonly id: string
  readonly apply: ReturnType<typeof useChange<Alert>>['apply']
  readonly onClose: () => void
}

function Acknowledge({ id, apply, onClose }: AcknowledgeProps) {
  const words = alertWords()
  const { duration } = useResource(acknowledgeFor, '').value.value ?? {}
  return (
    <ChangeDialog
      title={words.acknowledge}
      text={duration === undefined ? words.heldBack : words.heldBackFor(localDuration(duration))}
      schema={BODIES.acknowledgeAlert}
      labels={{ comment: words.fields.comment }}
      action={words.acknowledge}
      apply={apply}
      request={(body) => call('acknowledgeAlert', { path: { id }, body })}
      done={words.acknowledged}
      onClose={onClose}
    />
  )
}
