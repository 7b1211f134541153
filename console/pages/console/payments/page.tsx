import { localAmount } from '../../../i18n/local.ts'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { PaymentDrawer } from './drawer.tsx'
import { attentionPayments, paymentBadge, paymentList, type Payment } from './model.ts'
import { paymentWords } from './words.ts'

export const PAYMENTS_PATH = pathOf('payments')

/** The payments that need a person, the list of payments, and the details of the selected one. */
export function PaymentsPage({ id }: ViewProps) {
  const words = paymentWords()
  return (
    <ObjectsPage
      path={PAYMENTS_PATH}
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
            <a href={`${PAYMENTS_PATH}/${payment.id}`}>{paymentText(payment)}</a>
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
