import { localAmount, localTime } from '../../../i18n/local.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { ORDER_TONES, type Order } from './model.ts'
import type { orderWords } from './words.ts'

export function orderColumns({
  fields,
  statuses,
}: ReturnType<typeof orderWords>): readonly TableColumn<Order>[] {
  return [
    { key: 'order_id', title: fields.order_id, cell: ({ order_id }) => <bdi class="mono">{order_id}</bdi> },
    {
      key: 'status',
      title: fields.status,
      cell: ({ status }) => <StatusBadge tone={ORDER_TONES[status]} label={statuses[status]} />,
    },
    {
      key: 'platform',
      title: fields.platform,
      isWideOnly: true,
      cell: ({ platform }) => <bdi>{platform}</bdi>,
    },
    {
      key: 'amount_cents',
      title: fields.amount_cents,
      isNumeric: true,
      cell: ({ amount_cents }) => localAmount(amount_cents),
    },
    {
      key: 'created_at',
      title: fields.created_at,
      isWideOnly: true,
      cell: ({ created_at }) => <time dateTime={created_at}>{localTime(created_at)}</time>,
    },
    {
      key: 'updated_at',
      title: fields.updated_at,
      isFromMedium: true,
      cell: ({ updated_at }) => <time dateTime={updated_at}>{localTime(updated_at)}</time>,
    },
  ]
}
