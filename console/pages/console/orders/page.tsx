import { useLocation } from 'preact-iso/router'
import { BODIES, VALUES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { localAmount } from '../../../i18n/local.ts'
import { useActions } from '../../../parts/actions/actions.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { FindBox, focusFindBox } from '../../../parts/list/find-box.tsx'
import { readListQuery, withFilter, type ListQuery } from '../../../parts/list/list-query.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import type { Bulk } from '../../../parts/list/selection.tsx'
import { session, call } from '../platform.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { OrderDrawer } from './drawer.tsx'
import { foundAddress } from './find-order.ts'
import { isFinal, orderMovesFrom, ORDER_TONES, type OrderStatus, type Order } from './model.ts'
import { orderList, platformsSeen } from './source.ts'
import { orderWords } from './words.ts'

const PATH = pathOf('orders')
const BULK_MOVES = VALUES.listOrders.status.filter((status) => status !== 'pending')

/** The orders: the list, and beside it the order that the address names. */
export function OrdersPage({ id }: ViewProps) {
  const words = orderWords()
  const { route, query: given } = useLocation()
  const query = readListQuery(given, orderList)
  const find = async (text: string) =>
    route(text === '' ? withFilter(PATH, query, 'id_prefix', '') : await foundAddress(text, query))
  useActions(() => [{ title: words.find, keys: '/', run: focusFindBox }])
  return (
    <ObjectsPage
      path={PATH}
      source={orderList}
      words={words}
      labelOf={(_, value) => words.statuses[value as OrderStatus]}
      columns={orderColumns()}
      noMatchReason={(shown) => (endsNever(shown) ? words.noEnd : undefined)}
      icon="orders"
      bulk={orderBulk()}
      id={id}
      findBox={<FindBox label={words.find} text={query['id_prefix']} onFind={find} />}
      newItem={session.may('createOrder') && NewOrder}
      detail={(detail) => <OrderDrawer key={detail.id} {...detail} />}
    />
  )
}

/** The moves of several orders. */
function orderBulk(): Bulk<Order> | false {
  const { moves } = orderWords()
  return (
    session.may('moveOrder') && {
      titleOf: ({ order_id }) => order_id,
      actions: BULK_MOVES.map((to) => ({
        title: moves[to],
        isDestructive: to === 'expired',
        appliesTo: ({ status }) => orderMovesFrom(status).includes(to),
        send: ({ order_id }) => call('moveOrder', { path: { order_id }, body: { status: to } }),
      })),
    }
  )
}

/** Whether the filters ask for the end of orders that have not ended. */
function endsNever({ status, ended, ended_from, ended_to }: ListQuery): boolean {
  const hasEnd = [ended, ended_from, ended_to].some((each) => each !== undefined)
  return hasEnd && status !== undefined && !isFinal(status as OrderStatus)
}

function orderColumns(): readonly TableColumn<Order>[] {
  const { fields, statuses } = orderWords()
  const column = fieldColumns<Order, typeof fields>(fields)
  return [
    column.code('order_id'),
    column.status('status', ORDER_TONES, statuses),
    column.text('platform', { isWideOnly: true }),
    column.cell('amount_cents', ({ amount_cents }) => localAmount(amount_cents), { isNumeric: true }),
    column.time('created_at', { isFromMedium: true }),
    column.time('expires_at', { isFromMedium: true, isOptional: true }),
    column.time('updated_at', { isWideOnly: true, isOptional: true }),
  ]
}

/** Asks for the fields of a new order. */
function NewOrder({ onClose, onCreated }: NewItemDialog) {
  const words = orderWords()
  return (
    <CreateDialog
      title={words.newItem}
      schema={BODIES.createOrder}
      labels={words.fields}
      hints={words.hints}
      suggestions={{ platform: platformsSeen() }}
      action={words.create}
      create={(body) => call('createOrder', { body: body as BodyOf<'createOrder'> })}
      doneOf={({ order_id }) => words.createdToast(order_id)}
      onCreated={({ order_id }) => onCreated(order_id)}
      onClose={onClose}
    />
  )
}
