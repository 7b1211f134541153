import { useLocation } from 'preact-iso/router'
import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { localAmount, localTime } from '../../../i18n/local.ts'
import { useActions } from '../../../parts/actions/actions.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { FindBox, focusFindBox } from '../../../parts/list/find-box.tsx'
import { readListQuery, withFilter, addressOf, type ListQuery } from '../../../parts/list/list-query.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { ResourceTimeline } from '../../../parts/resource/resource-timeline.tsx'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { session, call } from '../platform.ts'
import { userLabel } from '../user-names.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { foundAddress } from './find-order.ts'
import {
  isFinal,
  ORDER_TONES,
  ORDER_MOVES,
  type OrderStatus,
  type Order,
  type FinalStatus,
  type OrderChange,
} from './model.ts'
import { orderList, orderHistory, orderResource } from './source.ts'
import { orderWords } from './words.ts'

const PATH = pathOf({ name: 'orders' })

/** The orders: the list, and beside it the order that the address names. */
export function OrdersPage({ id }: ViewProps) {
  const words = orderWords()
  const { route, query: given } = useLocation()
  const query = readListQuery(given, orderList.filters)
  const find = async (text: string) =>
    route(text === '' ? withFilter(PATH, query, 'id_prefix', '') : await foundAddress(text, query))
  useActions(() => [{ title: words.find, keys: '/', run: focusFindBox }])
  return (
    <ObjectsPage
      path={PATH}
      source={orderList}
      words={words}
      labelOf={(_, value) => words.statuses[value as OrderStatus]}
      columns={orderColumns(words)}
      noMatchReason={(shown) => (endsNever(shown) ? words.noEnd : undefined)}
      icon="orders"
      id={id}
      head={() => <FindBox label={words.find} text={query['id_prefix']} onFind={(text) => void find(text)} />}
      newItem={
        session.may('createOrder') && {
          title: words.newOrder,
          dialog: (dialog) => <NewOrder {...dialog} />,
        }
      }
      detail={(detail) => <OrderDrawer key={detail.id} id={detail.id} onClose={detail.onClose} />}
    />
  )
}

/** Whether the end is looked for of orders that have none. */
function endsNever({ status, ended_from, ended_to }: ListQuery): boolean {
  const hasEnd = ended_from !== undefined || ended_to !== undefined
  return hasEnd && status !== undefined && !isFinal(status as OrderStatus)
}

/** Asks for the fields of a new order. */
function NewOrder({ onClose, onCreated }: NewItemDialog) {
  const words = orderWords()
  return (
    <CreateDialog
      title={words.newOrder}
      schema={BODIES.createOrder}
      labels={words.fields}
      hints={words.hints}
      action={words.create}
      create={(body) => call('createOrder', { body: body as BodyOf<'createOrder'> })}
      doneOf={({ order_id }) => words.createdToast(order_id)}
      onCreated={({ order_id }) => onCreated(order_id)}
      onClose={onClose}
    />
  )
}

function orderColumns({ fields, statuses }: ReturnType<typeof orderWords>): readonly TableColumn<Order>[] {
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

const ORDERS_PATH = pathOf({ name: 'orders' })

interface OrderDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** One order with its moves and its history. */
function OrderDrawer({ id, onClose }: OrderDrawerProps) {
  const model = useResource(orderResource, id)
  return (
    <ResourceDrawer id={id} model={model} missing={<SimilarOrders id={id} />} onClose={onClose}>
      {(order) => (
        <>
          <OrderMoves order={order} model={model} />
          <OrderFacts order={order} />
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
      <a class="mark-link" href={addressOf(ORDERS_PATH, { id_prefix: id })}>
        {orderWords().similar}
      </a>
    </p>
  )
}

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
      isPossible: ({ status: current }) => ORDER_MOVES[current].includes(to),
    })
  }
  const moves = session.may('moveOrder') ? ORDER_MOVES[status] : []
  return (
    <ObjectActions
      status={{ tone: ORDER_TONES[status], label: words.statuses[status] }}
      actions={moves.map((to) => ({
        title: words.moves[to],
        isDestructive: to === 'expired',
        run: () => move(to),
      }))}
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

// It moves no order but those that were not paid in time.
const WORKER = 'worker'

function historyEntry({ at, from, to, actor }: OrderChange) {
  const words = orderWords()
  return {
    key: `${at} ${to}`,
    at,
    tone: ORDER_TONES[to],
    title: from === null ? words.created : words.statuses[to],
    note: <bdi>{actor === WORKER ? words.notPaid : words.by(userLabel(actor))}</bdi>,
  }
}
