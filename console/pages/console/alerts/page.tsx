import { useSignal, type Signal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { useRef } from 'preact/hooks'
import type { ApiFailure } from '../../../api/operations.ts'
import { isolated } from '../../../i18n/isolated.ts'
import { localNumber } from '../../../i18n/local.ts'
import { serverClock } from '../../../api/browser.ts'
import { useActions } from '../../../parts/actions/actions.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { describeFailure } from '../../../parts/failure-words.ts'
import { Icon } from '../../../parts/icon.tsx'
import { LinkChoice } from '../../../parts/link-choice.tsx'
import type { FormValues } from '../../../parts/form/form-fields.ts'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { RowGroups, TableColumn } from '../../../parts/list/data-table.tsx'
import { focusFindBox } from '../../../parts/list/find-box.tsx'
import { readListQuery, withFilter } from '../../../parts/list/list-query.ts'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
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
  LISTED_SEVERITIES,
  ALERT_TONES,
  SEVERITY_TONES,
  type Alert,
  type SilenceFor,
  alertList,
  silenceForm,
  silencesOf,
} from './model.ts'
import { SilenceLink } from './silence-link.tsx'
import { alertWords } from './words.ts'

const PATH = pathOf({ name: 'alerts' })

/** The alerts: the list, and beside it the alert that the address names. */
export function AlertsPage({ id }: ViewProps) {
  const words = alertWords()
  useActions(() => [{ title: words.find, keys: '/', run: focusFindBox }])
  const silences = useResource(activeSilences, '').value.value?.items ?? []
  const selection = useSignal<ReadonlySet<string>>(new Set())
  const { source, sort } = readListQuery(useLocation().query, alertList)
  // Who looks for one source wants to see its alerts.
  const isGrouped = sort === undefined && source === undefined
  const silenceFor = (alert: Alert) => coveringSilence(alert, silences)
  return (
    <ObjectsPage
      path={PATH}
      source={alertList}
      words={words}
      labelOf={(name, value) => (LABELS[name]?.() as Labels | undefined)?.[value] ?? value}
      groups={isGrouped ? GROUPS : undefined}
      columns={[...alertColumns(words, silenceFor), ...(maySelect() ? [selectionColumn(selection)] : [])]}
      icon="alerts"
      id={id}
      head={() => <AlertNoticeChoice />}
      summary={<SeverityChips path={PATH} />}
      toolbar={(alerts) =>
        maySelect() && alerts.length > 0 && <SelectionBar selection={selection} alerts={alerts} />
      }
      detail={(detail) => (
        <AlertDrawer key={detail.id} id={detail.id} silenceFor={silenceFor} onClose={detail.onClose} />
      )}
    />
  )
}

type Labels = Readonly<Record<string, string>>

const LABELS: Readonly<Record<string, () => object>> = {
  status: () => alertWords().statuses,
  level: () => alertWords().severities,
  sort: () => alertWords().orders,
}

const GROUPS: RowGroups<Alert> = { keyOf: alertGroup, line: (alerts) => <AlertGroup alerts={alerts} /> }

/** Many alerts of one severity and source: how many, and the newest one. */
function AlertGroup({ alerts }: { readonly alerts: readonly [Alert, ...Alert[]] }) {
  const { severities, folded } = alertWords()
  const [{ severity, source, title }] = alerts
  return (
    <>
      <StatusBadge tone={SEVERITY_TONES[severity]} label={severities[severity]} />
      <b>{folded(localNumber(alerts.length))}</b>
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
      choices={[chip('', partWords().all), ...LISTED_SEVERITIES.map((each) => chip(each, severities[each]))]}
    />
  )
}

function alertColumns(
  words: ReturnType<typeof alertWords>,
  silenceFor: SilenceFor,
): readonly TableColumn<Alert>[] {
  const { fields, statuses, severities, silenced } = words
  const column = fieldColumns<Alert, typeof fields>(fields)
  return [
    {
      key: 'title',
      title: fields.title,
      cell: (alert) => (
        <>
          {silenceFor(alert) && (
            <span class="narrow-mark">
              <Icon name="mute" />
              <span class="visually-hidden">{silenced} </span>
            </span>
          )}
          <bdi>{alert.title}</bdi>
        </>
      ),
    },
    column.status('severity', SEVERITY_TONES, severities),
    {
      key: 'status',
      title: fields.status,
      isFromMedium: true,
      cell: (alert) => (
        <>
          <StatusBadge tone={ALERT_TONES[alert.status]} label={statuses[alert.status]} />{' '}
          <SilenceLink silence={silenceFor(alert)} />
        </>
      ),
    },
    column.text('source', { isWideOnly: true }),
    column.number('count', { isWideOnly: true }),
    column.time('last_at', { isWideOnly: true, isFromMedium: true }),
  ]
}

/** The ids of the chosen alerts. */
type AlertSelection = Signal<ReadonlySet<string>>

/** Whether the user may change several alerts at once. */
function maySelect(): boolean {
  return session.may('acknowledgeAlert') || session.may('recoverAlert') || session.may('createSilence')
}

/** A column with a box for each alert, where the list is wide. */
function selectionColumn(selection: AlertSelection): TableColumn<Alert> {
  const { select, selectAlert } = alertWords()
  const toggle = (id: string) => {
    selection.value = selection.peek().symmetricDifference(new Set([id]))
  }
  return {
    key: 'select',
    title: select,
    isWideOnly: true,
    cell: ({ id, title }) => (
      <input
        class="row-box"
        type="checkbox"
        aria-label={selectAlert(isolated(title))}
        checked={selection.value.has(id)}
        onChange={() => toggle(id)}
      />
    ),
  }
}

type Bulk = 'acknowledge' | 'recover'

const MAY_BE: Readonly<Record<Bulk, (alert: Alert) => boolean>> = {
  acknowledge: ({ status }) => status === 'firing',
  recover: ({ status }) => status !== 'recovered',
}
const SENDS = {
  acknowledge: ({ id }: Alert) => call('acknowledgeAlert', { path: { id }, body: {} }),
  recover: ({ id }: Alert) => call('recoverAlert', { path: { id } }),
}

// More titles make no short message.
const MOST_NAMED = 3

/** Which alerts stayed as they were, and why. */
function refusedText(refused: readonly Alert[], failure: ApiFailure): string {
  const { notDone, andMore } = alertWords()
  const named = refused.slice(0, MOST_NAMED).map(({ title }) => isolated(title))
  const others = refused.length - named.length
  const names = [...named, ...(others > 0 ? [andMore(localNumber(others))] : [])].join(', ')
  return notDone(names, describeFailure(failure))
}

interface SelectionBarProps {
  readonly selection: AlertSelection
  /** The alerts on the page: only these can be changed. */
  readonly alerts: readonly Alert[]
}

/** What can be done with the chosen alerts together. It has its place also while none is chosen, so that no row moves. */
function SelectionBar({ selection, alerts }: SelectionBarProps) {
  const words = alertWords()
  const refreshList = useListRefresh()
  const sent = useSignal<string | null>(null)
  const bar = useRef<HTMLDivElement>(null)
  const silencing = useSignal<FormValues | null>(null)
  const chosen = alerts.filter(({ id }) => selection.value.has(id))
  const silence = async () => {
    const bodies = silencesOf(chosen, serverClock.now())
    if (bodies.length === 1) return (silencing.value = silenceForm(chosen, serverClock.now()))
    const { question, text, done } = words.silenceMany
    const title = question(localNumber(chosen.length), localNumber(bodies.length))
    if (!(await confirmAction({ title, text, action: words.silence }))) return
    const outcome = await sendEach(
      bodies,
      (body) => call('createSilence', { body }),
      () => {},
    )
    if (outcome.failure) showToast('warning', describeFailure(outcome.failure))
    else showToast('good', done(localNumber(outcome.done)))
  }
  const run = async (bulk: Bulk) => {
    if (sent.peek() !== null) return
    const targets = chosen.filter(MAY_BE[bulk])
    const { question, text, action, done } = words.bulk[bulk]
    const count = localNumber(targets.length)
    if (targets.length === 0) return showToast('warning', words.bulk[bulk].none)
    if (!(await confirmAction({ title: question(count), text, action }))) return
    const progress = (index: number) => (sent.value = words.sentOf(localNumber(index), count))
    progress(0)
    const outcome = await sendEach(targets, SENDS[bulk], progress)
    sent.value = null
    selection.value = new Set(outcome.refused.map(({ id }) => id))
    refreshList()
    const doneText = done(localNumber(outcome.done))
    const { refused, failure } = outcome
    if (failure) showToast('warning', `${doneText} ${refusedText(refused, failure)}`)
    else showToast('good', doneText)
    // The button that had the focus goes away with the last chosen alert.
    requestAnimationFrame(() => document.activeElement === document.body && bar.current?.focus())
  }
  return (
    <div
      class="selection-bar"
      role="group"
      aria-label={words.selected(localNumber(chosen.length))}
      tabIndex={-1}
      ref={bar}
    >
      <span role="status">{sent.value ?? words.selected(localNumber(chosen.length))}</span>
      {chosen.length > 0 && session.may('acknowledgeAlert') && (
        <button class="button" type="button" onClick={() => void run('acknowledge')}>
          {words.acknowledge}
        </button>
      )}
      {chosen.length > 0 && session.may('recoverAlert') && (
        <button class="button" type="button" onClick={() => void run('recover')}>
          {words.recover}
        </button>
      )}
      {chosen.length > 0 && session.may('createSilence') && (
        <button class="button" type="button" onClick={() => void silence()}>
          {words.silence}
        </button>
      )}
      {silencing.value && <NewSilence initial={silencing.value} onClose={() => (silencing.value = null)} />}
      <button
        class="button button-quiet"
        type="button"
        onClick={() => (selection.value = new Set(alerts.map(({ id }) => id)))}
      >
        {words.selectAll}
      </button>
      {chosen.length > 0 && (
        <button class="button button-quiet" type="button" onClick={() => (selection.value = new Set())}>
          {words.selectNone}
        </button>
      )}
    </div>
  )
}
