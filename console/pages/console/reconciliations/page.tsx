import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { BODIES, VALUES } from '../../../api/generated.ts'
import type { AnswerOf, BodyOf } from '../../../api/operations.ts'
import { localAmount, localNumber, localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { reportFailure } from '../../../parts/report-failure.ts'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import type { Tone } from '../../../parts/status-badge.tsx'
import { showToast } from '../../../parts/toast.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { call, session } from '../platform.ts'
import { channelNames } from '../payments/model.ts'
import { paymentWords } from '../payments/words.ts'
import { listOf, resourceOf } from '../sources.ts'
import { userLabel } from '../user-names.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { reconciliationWords } from './words.ts'

type Reconciliation = AnswerOf<'getReconciliation'>
type Difference = AnswerOf<'listPaymentDifferences'>['items'][number]

const PATH = pathOf('reconciliations')
const EVERY_MS = 15_000
const MOST_SHOWN = 100

const TONES: Readonly<Record<Reconciliation['status'], Tone>> = {
  running: 'active',
  matched: 'good',
  differs: 'danger',
  failed: 'warning',
}

const PREFIX = 'payment.reconciled'

const reconciliationList = listOf('listReconciliations', PREFIX, {
  keyOf: ({ id }) => id,
  everyMs: EVERY_MS,
  mayChangeWithoutEvent: ({ status }) => status === 'running',
})

const reconciliationResource = resourceOf('getReconciliation', PREFIX, (id) => ({ path: { id } }))

/** The comparisons with the books of the providers, and beside them the differences of the one that the address names. */
export function ReconciliationsPage({ id }: ViewProps) {
  const words = reconciliationWords()
  return (
    <ObjectsPage
      path={PATH}
      source={reconciliationList}
      words={words}
      columns={reconciliationColumns()}
      icon="reconciliations"
      id={id}
      newItem={session.may('reconcilePayments') && NewReconciliation}
      detail={(detail) => <ReconciliationDrawer key={detail.id} {...detail} />}
    />
  )
}

function reconciliationColumns(): readonly TableColumn<Reconciliation>[] {
  const { fields, statuses } = reconciliationWords()
  const column = fieldColumns<Reconciliation, typeof fields>(fields)
  return [
    column.cell('date', ({ date }) => date),
    column.text('channel', { isFromMedium: true }),
    column.status('status', TONES, statuses),
    column.number('differences', { isWideOnly: true }),
    column.time('created_at', { isFromMedium: true }),
  ]
}

function NewReconciliation({ onClose, onCreated }: NewItemDialog) {
  const words = reconciliationWords()
  const { channel, date } = words.fields
  const channels = useResource(channelNames, '').value.value?.channels ?? []
  const { properties } = BODIES.reconcilePayments
  const schema = {
    ...BODIES.reconcilePayments,
    properties: { ...properties, channel: { ...properties.channel, enum: channels } },
  }
  return (
    <CreateDialog
      title={words.newItem}
      schema={schema}
      labels={{ channel, date }}
      hints={words.hints}
      action={words.newItem}
      create={(body) => call('reconcilePayments', { body: body as BodyOf<'reconcilePayments'> })}
      doneOf={() => words.requested}
      onCreated={({ id }) => onCreated(id)}
      onClose={onClose}
    />
  )
}

function ReconciliationDrawer({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { fields } = reconciliationWords()
  const model = useResource(reconciliationResource, id)
  return (
    <ResourceDrawer
      id={id}
      model={model}
      titleOf={({ channel, date }) => `${channel} ${date}`}
      onClose={onClose}
    >
      {(run) => (
        <>
          <ReconciliationActions run={run} />
          <FactList
            facts={[
              [fields.matched, localNumber(run.matched)],
              [fields.differences, localNumber(run.differences)],
              [fields.error, run.error],
              [fields.created_at, localTime(run.created_at)],
              [fields.finished_at, run.finished_at && localTime(run.finished_at)],
              [fields.requested_by, userLabel(run.requested_by)],
            ]}
          />
          {run.differences > 0 && <Differences id={id} />}
        </>
      )}
    </ResourceDrawer>
  )
}

function ReconciliationActions({ run }: { readonly run: Reconciliation }) {
  const { route } = useLocation()
  const { again, requested, statuses } = reconciliationWords()
  const { channel, date, status } = run
  const repeat = async () => {
    const result = await call('reconcilePayments', { body: { channel, date } })
    if (!result.ok) return reportFailure(result.failure)
    showToast('good', requested)
    route(pathOf('reconciliations', result.value.id))
  }
  return (
    <ObjectActions
      status={{ tone: TONES[status], label: statuses[status] }}
      actions={[
        (status === 'differs' || status === 'failed') &&
          session.may('reconcilePayments') && { title: again, run: repeat },
      ]}
    />
  )
}

const KINDS = VALUES.listPaymentDifferences.kind
type Kind = (typeof KINDS)[number]

/** The first differences of a kind, or of all, with both sides of each. */
function Differences({ id }: { readonly id: string }) {
  const words = reconciliationWords()
  const kind = useSignal<Kind | undefined>(undefined)
  const query = { limit: MOST_SHOWN, ...(kind.value && { kind: kind.value }) }
  const { answer } = useAnswer(
    () => call('listPaymentDifferences', { path: { id }, query }),
    [id, kind.value],
  )
  const items = answer?.items ?? []
  return (
    <Section title={words.fields.differences}>
      <label class="filter">
        <span class="filter-name">{words.kind}</span>
        <select
          class="input"
          value={kind.value ?? ''}
          onChange={({ currentTarget }) =>
            (kind.value = KINDS.find((choice) => choice === currentTarget.value))
          }
        >
          <option value="">{words.all}</option>
          {KINDS.map((choice) => (
            <option key={choice} value={choice}>
              {words.kinds[choice]}
            </option>
          ))}
        </select>
      </label>
      {answer && items.length === 0 && <p class="muted">{words.noneOfKind}</p>}
      {KINDS.filter((choice) => items.some((item) => item.kind === choice)).map((choice) => (
        <Section key={choice} title={words.kinds[choice]}>
          <p class="muted">{words.causes[choice]}</p>
          {items
            .filter((item) => item.kind === choice)
            .map((difference) => (
              <DifferenceFacts key={difference.number} difference={difference} />
            ))}
        </Section>
      ))}
      {answer?.next_cursor && <p class="muted">{words.more(localNumber(MOST_SHOWN))}</p>}
    </Section>
  )
}

function DifferenceFacts({ difference }: { readonly difference: Difference }) {
  const words = reconciliationWords()
  const { type, number, payment_id } = difference
  const name = <bdi class="mono">{number}</bdi>
  return (
    <FactList
      facts={[
        [words.types[type], payment_id === null ? name : <a href={pathOf('payments', payment_id)}>{name}</a>],
        [words.here, <Side type={type} status={difference.here_status} cents={difference.here_cents} />],
        [words.there, <Side type={type} status={difference.there_status} cents={difference.there_cents} />],
      ]}
    />
  )
}

interface SideProps {
  readonly type: Difference['type']
  readonly status: string | null
  readonly cents: number | null
}

/** The amount and the status on one side; the title has the status as the API names it. */
function Side({ type, status, cents }: SideProps) {
  if (status === null) return reconciliationWords().nothing
  return <span title={status}>{`${localAmount(cents ?? 0)} · ${statusText(type, status)}`}</span>
}

/** The books call what was paid and what was refunded `succeeded`. */
function statusText(type: Difference['type'], status: string): string {
  const { statuses, refundStatuses } = paymentWords()
  const ofPayments = { ...statuses, succeeded: statuses.paid, pending: statuses.open }
  const names: Readonly<Record<string, string>> = type === 'refund' ? refundStatuses : ofPayments
  return names[status] ?? status
}
