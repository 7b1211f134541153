import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { localNumber } from '../../../i18n/local.ts'
import { serverClock } from '../../../api/browser.ts'
import { useActions } from '../../../parts/actions/actions.ts'
import { Button } from '../../../parts/button.tsx'
import { confirmAction } from '../../../parts/confirm.tsx'
import { describeFailure } from '../../../parts/failure-words.ts'
import { Icon } from '../../../parts/icon.tsx'
import { LinkChoice } from '../../../parts/link-choice.tsx'
import type { FormValues } from '../../../parts/form/form-fields.ts'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { RowGroups, TableColumn } from '../../../parts/list/data-table.tsx'
import { focusFindBox } from '../../../parts/list/find-box.tsx'
import { readListQuery, withFilter } from '../../../parts/list/list-query.ts'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import type { Bulk, BulkAction } from '../../../parts/list/selection.tsx'
import { partWords } from '../../../parts/part-words.ts'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { sendEach } from '../../../parts/send-each.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { showToast } from '../../../parts/toast.tsx'
import { call, session } from '../platform.ts'
import { activeSilences } from '../silences/active-silences.ts'
import { coveringSilence } from '../silences/covering.ts'
import { NewSilence } from '../silences/new-silence.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { AlertNoticeChoice } from './alert-notices.tsx'
import { AlertDrawer } from './drawer.tsx'
import {
  alertGroup,
  ALERT_TONES,
  SEVERITY_TONES,
  type Alert,
  type SilenceFor,
  alertList,
  silenceForm,
  silencesOf,
} from './model.ts'
import { SilenceLink } from './silence-link.tsx'
import { FIRING_SEVERITIES } from './severities.ts'
import { alertWords } from './words.ts'

const PATH = pathOf('alerts')

/** The alerts: the list, and beside it the alert that the address names. */
export function AlertsPage({ id }: ViewProps) {
  const words = alertWords()
  useActions(() => [{ title: words.find, keys: '/', run: focusFindBox }])
  const silences = useResource(activeSilences, '').value.value?.items ?? []
  const { source, sort } = readListQuery(useLocation().query, alertList)
  // Who looks for one source wants to see its alerts.
  const isGrouped = sort === undefined && source === undefined
  const silenceFor = (alert: Alert) => coveringSilence(alert, silences)
  return (
    <ObjectsPage
      path={PATH}
      source={alertList}
      words={words}
      labelOf={(name, value) => LABELS[name]?.()[value] ?? value}
      groups={isGrouped ? GROUPS : undefined}
      columns={alertColumns(silenceFor)}
      bulk={alertBulk()}
      icon="alerts"
      id={id}
      head={() => <AlertNoticeChoice />}
      summary={<SeverityChips path={PATH} />}
      detail={(detail) => <AlertDrawer key={detail.id} {...detail} silenceFor={silenceFor} />}
    />
  )
}

/** The words for the values of each parameter of the list. */
const LABELS: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  status: () => alertWords().statuses,
  level: () => alertWords().severities,
  sort: () => alertWords().orders,
}

const GROUPS: RowGroups<Alert> = { keyOf: alertGroup, line: (alerts) => <AlertGroup alerts={alerts} /> }

/** Many alerts of one severity and source: how many, and the newest one. */
function AlertGroup({ alerts }: { readonly alerts: readonly [Alert, ...Alert[]] }) {
  const { severities, alertCount } = alertWords()
  const [{ severity, source, title }] = alerts
  return (
    <>
      <StatusBadge tone={SEVERITY_TONES[severity]} label={severities[severity]} />
      <b>{alertCount(localNumber(alerts.length))}</b>
      <bdi>{source}</bdi>
      <bdi class="muted">{title}</bdi>
    </>
  )
}

/** The severities, the most severe one first. */
function SeverityChips({ path }: { readonly path: string }) {
  const { fields, severities } = alertWords()
  const query = readListQuery(useLocation().query, alertList)
  const level = query['level'] ?? ''
  const chip = (value: string, title: string) => ({
    title,
    href: withFilter(path, query, 'level', value),
    isCurrent: value === level,
  })
  return (
    <LinkChoice
      label={fields.severity}
      choices={[
        chip('', partWords().all),
        ...FIRING_SEVERITIES.map((severity) => chip(severity, severities[severity])),
      ]}
    />
  )
}

function alertColumns(silenceFor: SilenceFor): readonly TableColumn<Alert>[] {
  const { fields, statuses, severities, silenced } = alertWords()
  const column = fieldColumns<Alert, typeof fields>(fields)
  return [
    column.cell('title', (alert) => (
      <>
        {silenceFor(alert) && (
          <span class="narrow-mark">
            <Icon name="mute" />
            <span class="visually-hidden">{silenced} </span>
          </span>
        )}
        <bdi>{alert.title}</bdi>
      </>
    )),
    column.status('severity', SEVERITY_TONES, severities),
    column.cell(
      'status',
      (alert) => (
        <>
          <StatusBadge tone={ALERT_TONES[alert.status]} label={statuses[alert.status]} />{' '}
          <SilenceLink silence={silenceFor(alert)} isBrief />
        </>
      ),
      { isFromMedium: true },
    ),
    column.text('source', { isWideOnly: true }),
    column.number('count', { isWideOnly: true }),
    column.time('last_at', { isWideOnly: true, isFromMedium: true }),
  ]
}

/** What the user may do with several alerts at once. */
function alertBulk(): Bulk<Alert> | false {
  const { acknowledge, recover, bulk } = alertWords()
  const actions: BulkAction<Alert>[] = []
  if (session.may('acknowledgeAlert')) {
    actions.push({
      ...bulk.acknowledge,
      title: acknowledge,
      appliesTo: ({ status }) => status === 'firing',
      send: ({ id }) => call('acknowledgeAlert', { path: { id }, body: {} }),
    })
  }
  if (session.may('recoverAlert')) {
    actions.push({
      ...bulk.recover,
      title: recover.action,
      appliesTo: ({ status }) => status !== 'recovered',
      send: ({ id }) => call('recoverAlert', { path: { id } }),
    })
  }
  const more: Bulk<Alert>['more'] = (chosen, onDone) =>
    session.may('createSilence') && <SilenceMany alerts={chosen} onDone={onDone} />
  return actions.length > 0 && { titleOf: ({ title }) => title, actions, more }
}

interface SilenceManyProps {
  readonly alerts: readonly Alert[]
  /** Gets the alerts for which no silence was made. */
  readonly onDone: (left: readonly Alert[]) => void
}

/** Silences the chosen alerts: alerts of one source by a form, alerts of several sources by one silence for each source. */
function SilenceMany({ alerts, onDone }: SilenceManyProps) {
  const words = alertWords()
  const initialForm = useSignal<FormValues | null>(null)
  const silence = async () => {
    const bodies = silencesOf(alerts, serverClock.now())
    if (bodies.length === 1) {
      initialForm.value = silenceForm(alerts, serverClock.now())
      return
    }
    const { question, text, done } = words.silenceMany
    const title = question(localNumber(alerts.length), localNumber(bodies.length))
    if (!(await confirmAction({ title, text, action: words.silence }))) return
    const { done: silencedCount, refused } = await sendEach(
      bodies,
      (body) => call('createSilence', { body }),
      () => {},
    )
    const [first] = refused
    if (first) showToast('warning', describeFailure(first.failure))
    else showToast('good', done(localNumber(silencedCount)))
    const refusedSources = refused.map(({ item }) => item.matchers.source)
    onDone(alerts.filter(({ source }) => refusedSources.includes(source)))
  }
  return (
    <>
      <Button onClick={() => void silence()}>{words.silence}</Button>
      {initialForm.value && (
        <NewSilence
          initial={initialForm.value}
          onCreated={() => onDone([])}
          onClose={() => (initialForm.value = null)}
        />
      )}
    </>
  )
}
