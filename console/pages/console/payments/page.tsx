import { localAmount } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { RelativeTime } from '../../../parts/relative-time.tsx'
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
      columns={paymentColumns(words)}
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

function paymentColumns(words: ReturnType<typeof paymentWords>): readonly TableColumn<Payment>[] {
  const { fields, noOrder } = words
  return [
    {
      key: 'order_id',
      title: fields.order_id,
      cell: ({ order_id }) => <bdi class="mono">{order_id ?? noOrder}</bdi>,
    },
    {
      key: 'status',
      title: fields.status,
      cell: (payment) => <StatusBadge {...paymentBadge(payment)} />,
    },
    {
      key: 'amount_cents',
      title: fields.amount_cents,
      isNumeric: true,
      cell: ({ amount_cents, refunded_cents }) => (
        <>
          {localAmount(amount_cents)}
          {refunded_cents > 0 && <span class="row-note">{`−${localAmount(refunded_cents)}`}</span>}
        </>
      ),
    },
    { key: 'channel', title: fields.channel, isWideOnly: true, cell: ({ channel }) => <bdi>{channel}</bdi> },
    {
      key: 'created_at',
      title: fields.created_at,
      isFromMedium: true,
      cell: ({ created_at }) => <RelativeTime time={created_at} />,
    },
  ]
}
