import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { localAmount, localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { ResourceTimeline } from '../../../parts/resource/resource-timeline.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { sendChange } from '../../../parts/send-change.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { call, session } from '../platform.ts'
import { byUser } from '../user-names.ts'
import { pathOf, type ViewProps, type DetailProps } from '../view.ts'
import {
  attentionPayments,
  paymentBadge,
  paymentList,
  leftCents,
  PAYMENT_TONES,
  paymentHistory,
  paymentRefunds,
  paymentResource,
  REFUND_TONES,
  type Payment,
  type PaymentChange,
  type Refund,
} from './model.ts'
import { paymentWords } from './words.ts'

const PATH = pathOf('payments')

/** The payments that need a person, the list of payments, and the details of the selected one. */
export function PaymentsPage({ id }: ViewProps) {
  const words = paymentWords()
  return (
    <ObjectsPage
      path={PATH}
      source={paymentList}
      words={words}
      labelOf={(name, value) => labelOf(name, value)}
      columns={paymentColumns()}
      icon="payments"
      id={id}
      summary={<NeedAPerson />}
      detail={(detail) => <PaymentDrawer key={detail.id} {...detail} />}
    />
  )
}

function labelOf(name: string, value: string): string {
  const { statuses, attentions, anyAttention } = paymentWords()
  const names: Readonly<Record<string, string>> =
    name === 'status' ? statuses : { any: anyAttention, ...attentions }
  return names[value] ?? value
}

/** Shows the payments that need a person; renders nothing if there are none. */
function NeedAPerson() {
  const words = paymentWords()
  const model = useResource(attentionPayments, '')
  const items = model.value.value?.items ?? []
  if (items.length === 0) return null
  return (
    <section class="page-section" aria-labelledby="need-title">
      <h2 class="section-title" id="need-title">
        {words.needPerson}
      </h2>
      <ul class="finding-list">
        {items.map((payment) => (
          <li key={payment.id} class="card">
            <StatusBadge {...paymentBadge(payment)} />
            <a href={`${PATH}/${payment.id}`}>{paymentText(payment)}</a>
          </li>
        ))}
      </ul>
    </section>
  )
}

function paymentText({ order_id, amount_cents, channel }: Payment): string {
  return `${order_id ?? paymentWords().noOrder}, ${localAmount(amount_cents)}, ${channel}`
}

function paymentColumns(): readonly TableColumn<Payment>[] {
  const { fields, noOrder } = paymentWords()
  const column = fieldColumns<Payment, typeof fields>(fields)
  return [
    column.cell('order_id', ({ order_id }) => <bdi class="mono">{order_id ?? noOrder}</bdi>),
    column.cell('status', (payment) => <StatusBadge {...paymentBadge(payment)} />),
    column.cell(
      'amount_cents',
      ({ amount_cents, refunded_cents }) => (
        <>
          {localAmount(amount_cents)}
          {refunded_cents > 0 && <span class="row-note">{`−${localAmount(refunded_cents)}`}</span>}
        </>
      ),
      { isNumeric: true },
    ),
    column.text('channel', { isWideOnly: true }),
    column.time('created_at', { isFromMedium: true }),
  ]
}

/** One payment with its refunds and its history. */
function PaymentDrawer({ id, onClose }: DetailProps) {
  const words = paymentWords()
  const model = useResource(paymentResource, id)
  // Some changes have no event and change no field of the payment.
  const changes = useSignal(0)
  const refresh = () => {
    changes.value++
    void model.refresh()
  }
  return (
    <ResourceDrawer
      id={id}
      model={model}
      titleOf={({ order_id }) => order_id ?? words.noOrder}
      onClose={onClose}
    >
      {(payment) => {
        const version = `${changes.value} ${payment.status} ${payment.refunded_cents} ${payment.attention}`
        return (
          <>
            <PaymentActions payment={payment} onChange={refresh} />
            {payment.attention !== null && <p role="alert">{words.whatToDo[payment.attention]}</p>}
            <PaymentFacts payment={payment} />
            <ResourceTimeline
              title={words.refunds}
              source={paymentRefunds}
              id={id}
              version={version}
              entryOf={refundEntry}
              empty={words.noRefunds}
            />
            <ResourceTimeline
              title={words.history}
              source={paymentHistory}
              id={id}
              version={version}
              entryOf={historyEntry}
            />
          </>
        )
      }}
    </ResourceDrawer>
  )
}

interface PaymentActionsProps {
  readonly payment: Payment
  readonly onChange: () => void
}

function PaymentActions({ payment, onChange }: PaymentActionsProps) {
  const words = paymentWords()
  const { id, status } = payment
  const dialog = useSignal<'refund' | 'resolve' | null>(null)
  const finish = () => {
    dialog.value = null
    onChange()
  }
  const close = () =>
    sendChange({
      words: words.close,
      isDestructive: true,
      send: () => call('closePayment', { path: { id } }),
      onDone: onChange,
    })
  const left = leftCents(payment)
  return (
    <ObjectActions
      status={paymentBadge(payment)}
      actions={[
        status === 'open' &&
          session.may('closePayment') && { title: words.close.action, isDestructive: true, run: close },
        status === 'paid' &&
          left > 0 &&
          session.may('createRefund') && { title: words.refund, run: () => void (dialog.value = 'refund') },
        payment.needs_person &&
          session.may('resolvePayment') && {
            title: words.resolve,
            run: () => void (dialog.value = 'resolve'),
          },
      ]}
    >
      {dialog.value === 'refund' && (
        <RefundForm payment={payment} onDone={finish} onClose={() => (dialog.value = null)} />
      )}
      {dialog.value === 'resolve' && (
        <CreateDialog
          title={words.resolve}
          text={words.resolveText}
          schema={BODIES.resolvePayment}
          labels={{ note: words.note }}
          action={words.resolve}
          create={(body) => call('resolvePayment', { path: { id }, body: body as BodyOf<'resolvePayment'> })}
          doneOf={() => words.resolved}
          onCreated={finish}
          onClose={() => (dialog.value = null)}
        />
      )}
    </ObjectActions>
  )
}

interface RefundFormProps {
  readonly payment: Payment
  readonly onDone: () => void
  readonly onClose: () => void
}

function RefundForm({ payment, onDone, onClose }: RefundFormProps) {
  const words = paymentWords()
  const left = leftCents(payment)
  const { properties } = BODIES.createRefund
  const schema = {
    ...BODIES.createRefund,
    properties: { ...properties, amount_cents: { ...properties.amount_cents, maximum: left } },
  }
  return (
    <CreateDialog
      title={words.refund}
      text={words.refundText}
      schema={schema}
      labels={{ amount_cents: words.fields.amount_cents, reason: words.reason }}
      hints={{ amount_cents: words.leftOf(localAmount(left)), reason: words.reasonHint }}
      action={words.refund}
      create={(body) =>
        call('createRefund', { path: { id: payment.id }, body: body as BodyOf<'createRefund'> })
      }
      doneOf={() => words.refundRequested}
      onCreated={onDone}
      onClose={onClose}
    />
  )
}

function PaymentFacts({ payment }: { readonly payment: Payment }) {
  const { fields } = paymentWords()
  const { order_id, amount_cents, paid_cents, currency, refunded_cents, paid_at, closed_at } = payment
  const money = (cents: number) => `${localAmount(cents)} ${currency}`
  const orderPath = pathOf('orders', order_id ?? '')
  return (
    <FactList
      facts={[
        [fields.order_id, order_id === null ? null : <a href={orderPath}>{order_id}</a>],
        [fields.channel, payment.channel],
        [fields.amount_cents, money(amount_cents)],
        [fields.paid_cents, paid_cents === null || paid_cents === amount_cents ? null : money(paid_cents)],
        [fields.refunded_cents, refunded_cents === 0 ? null : money(refunded_cents)],
        [fields.number, payment.number],
        [fields.provider_id, payment.provider_id],
        [fields.failed_reason, payment.failed_reason],
        [fields.created_at, localTime(payment.created_at)],
        [fields.paid_at, paid_at && localTime(paid_at)],
        [fields.closed_at, closed_at && localTime(closed_at)],
      ]}
    />
  )
}

function refundEntry({ id, created_at, status, amount_cents, reason, failed_reason }: Refund) {
  const { refundStatuses } = paymentWords()
  return {
    key: id,
    at: created_at,
    tone: REFUND_TONES[status],
    title: `${localAmount(amount_cents)} · ${refundStatuses[status]}`,
    note: <bdi>{failed_reason === null ? reason : `${reason} (${failed_reason})`}</bdi>,
  }
}

const CHANGE_TONES: Readonly<Record<string, (typeof PAYMENT_TONES)['paid']>> = {
  ...PAYMENT_TONES,
  attention: 'danger',
  refund_failed: 'danger',
  refund_unclear: 'danger',
  refunded: 'good',
}

function historyEntry({ at, change, actor, note }: PaymentChange, index: number) {
  const words = paymentWords()
  const names: Readonly<Record<string, string>> = { ...words.statuses, ...words.changes }
  return {
    key: String(index),
    at,
    tone: CHANGE_TONES[change] ?? 'quiet',
    title: names[change] ?? change,
    note: <bdi>{[byUser(actor), note && noteText(note)].filter(Boolean).join(' · ')}</bdi>,
  }
}

function noteText(note: string): string {
  const names: Readonly<Record<string, string>> = paymentWords().attentions
  return names[note] ?? note
}
