import { useLocation } from 'preact-iso/router'
import { BODIES, VALUES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { localAmount, localTime } from '../../../i18n/local.ts'
import { useActions } from '../../../parts/actions/actions.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { FindBox, focusFindBox } from '../../../parts/list/find-box.tsx'
import { readListQuery, withFilter, addressOf, type ListQuery } from '../../../parts/list/list-query.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import type { Bulk } from '../../../parts/list/selection.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { RelatedLinks } from '../../../parts/related-links.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { ResourceTimeline } from '../../../parts/resource/resource-timeline.tsx'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { OrderPayments } from '../payments/order-payments.tsx'
import { session, call } from '../platform.ts'
import { byUser } from '../user-names.ts'
import { pathOf, type ViewProps, type DetailProps } from '../view.ts'
import { orderAddress } from './find-order.ts'
import {
  isFinal,
  orderMovesFrom,
  ORDER_TONES,
  type OrderStatus,
  type Order,
  type FinalStatus,
  type OrderChange,
} from './model.ts'
import { orderList, platformsSeen, orderHistory, orderResource } from './source.ts'
import { orderWords } from './words.ts'

const PATH = pathOf('orders')
const BULK_MOVES = VALUES.listOrders.status.filter((status) => status !== 'pending')

/** The orders: the list, and beside it the order that the address names. */
export function OrdersPage({ id }: ViewProps) {
  const words = orderWords()
  const { route, query: parameters } = useLocation()
  const query = readListQuery(parameters, orderList)
  const find = async (text: string) =>
    route(text === '' ? withFilter(PATH, query, 'id_prefix', '') : await orderAddress(text, query))
  useActions(() => [{ title: words.find, keys: '/', run: focusFindBox }])
  return (
    <ObjectsPage
      path={PATH}
      source={orderList}
      words={words}
      labelOf={(_, value) => words.statuses[value as OrderStatus]}
      columns={orderColumns()}
      noMatchReason={(filters) => (endsNever(filters) ? words.noEnd : undefined)}
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
  const hasEnd = [ended, ended_from, ended_to].some((filter) => filter !== undefined)
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

/** One order with its moves and its history. */
function OrderDrawer({ id, onClose }: DetailProps) {
  const model = useResource(orderResource, id)
  return (
    <ResourceDrawer id={id} model={model} missing={<SimilarOrders id={id} />} onClose={onClose}>
      {(order) => (
        <>
          <OrderMoves order={order} model={model} />
          <OrderFacts order={order} />
          {session.may('listPaymentsOfOrder') && <OrderPayments order={order} />}
          <OrderRelated order={order} />
          <ResourceTimeline
            title={orderWords().history}
            source={orderHistory}
            id={id}
            version={order.updated_at}
            entryOf={historyEntry}
          />
        </>
      )}
    </ResourceDrawer>
  )
}

/** Leads from an id that no order has to the orders whose ids begin with it. */
function SimilarOrders({ id }: { readonly id: string }) {
  return (
    <p>
      <a class="mark-link" href={addressOf(PATH, { id_prefix: id })}>
        {orderWords().similar}
      </a>
    </p>
  )
}

/** In the order of their keys. */
const MOVES: readonly OrderStatus[] = ['paid', 'shipped', 'completed', 'expired']

interface OrderMovesProps {
  readonly order: Order
  readonly model: ResourceModel<Order>
}

function OrderMoves({ order: { order_id, status }, model }: OrderMovesProps) {
  const words = orderWords()
  const { applyAndReport, conflict } = useChange(model)
  const move = async (to: OrderStatus) => {
    if (isFinal(to) && !(await confirmFinal(order_id, to))) return
    await applyAndReport({
      send: (ifMatch) => call('moveOrder', { path: { order_id }, body: { status: to }, ifMatch }),
      done: words.moved(order_id, words.statuses[to]),
      compare: (current) => [
        { name: words.fields.status, yours: words.statuses[to], theirs: words.statuses[current.status] },
      ],
      isPossible: ({ status: current }) => orderMovesFrom(current).includes(to),
    })
  }
  const moves = session.may('moveOrder') ? orderMovesFrom(status) : []
  return (
    <ObjectActions
      status={{ tone: ORDER_TONES[status], label: words.statuses[status] }}
      actions={MOVES.map(
        (to) =>
          moves.includes(to) && {
            title: words.moves[to],
            isDestructive: to === 'expired',
            run: () => move(to),
          },
      )}
    >
      {conflict}
    </ObjectActions>
  )
}

function confirmFinal(id: string, to: FinalStatus): Promise<boolean> {
  const { finalMoves, moves } = orderWords()
  const { title, text } = finalMoves[to]
  return confirmAction({ title: title(id), text, action: moves[to], isDestructive: to === 'expired' })
}

const TIMES = ['created_at', 'expires_at', 'paid_at', 'shipped_at', 'completed_at', 'expired_at'] as const

function OrderFacts({ order }: { readonly order: Order }) {
  const { fields, wasPayableUntil } = orderWords()
  const { status } = order
  // An order that is paid does not expire.
  const times = TIMES.filter((name) => name !== 'expires_at' || status === 'pending' || status === 'expired')
  const names = status === 'expired' ? { ...fields, expires_at: wasPayableUntil } : fields
  return (
    <FactList
      facts={[
        [fields.platform, order.platform],
        [fields.amount_cents, localAmount(order.amount_cents)],
        ...times.map((name) => [names[name], order[name] && localTime(order[name])] as const),
      ]}
    />
  )
}

// The messages of a change are written with it; they may be sent up to this much later.
const AFTERWARDS_MS = 60_000

/** What belongs to an order: each link is the list of it. */
function OrderRelated({ order }: { readonly order: Order }) {
  const { related } = orderWords()
  const { order_id, created_at, updated_at } = order
  const created_to = new Date(Date.parse(updated_at) + AFTERWARDS_MS).toISOString()
  return (
    <RelatedLinks
      links={[
        session.may('listPayments') && {
          icon: 'payments',
          title: related.payments,
          href: addressOf(pathOf('payments'), { order_id }),
        },
        session.may('listAlerts') && {
          icon: 'alerts',
          title: related.alerts,
          href: addressOf(pathOf('alerts'), { text: order_id }),
        },
        session.may('listMessages') && {
          icon: 'messages',
          title: related.messages,
          href: addressOf(pathOf('messages'), { created_from: created_at, created_to }),
        },
      ]}
    />
  )
}

// The actor of a change that the platform has made: it only expires orders that were not paid in time.
const WORKER = 'worker'

function historyEntry({ at, from, to, actor }: OrderChange) {
  const words = orderWords()
  return {
    key: `${at} ${to}`,
    at,
    tone: ORDER_TONES[to],
    title: from === null ? words.created : words.statuses[to],
    note: <bdi>{actor === WORKER ? words.notPaid : byUser(actor)}</bdi>,
  }
}
