import { localAmount, localTime } from '../../../i18n/local.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { describeFailure } from '../../../parts/failure-words.ts'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { showToast } from '../../../parts/toast.tsx'
import { call, session } from '../platform.ts'
import { ORDER_MOVES, ORDER_TONES, type Order, type OrderStatus } from './model.ts'
import { orderHistory, orderResource } from './source.ts'
import { orderWords } from './words.ts'

export interface OrderDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** One order with its moves and its history. */
export function OrderDrawer({ id, onClose }: OrderDrawerProps) {
  const order = useResource(orderResource, id)
  const { apply, conflict } = useChange(order)
  const words = orderWords()
  const move = async (status: OrderStatus) => {
    if (status === 'expired' && !(await confirmExpiry(id))) return
    const failure = await apply({
      send: (ifMatch) => call('moveOrder', { path: { order_id: id }, body: { status }, ifMatch }),
      done: words.moved(id, words.statuses[status]),
      compare: (current) => [
        { name: words.fields.status, yours: words.statuses[status], theirs: words.statuses[current.status] },
      ],
    })
    if (failure) showToast('warning', describeFailure(failure))
  }
  return (
    <Drawer title={id} onClose={onClose}>
      <ResourceView model={order}>
        {(shown) => (
          <>
            <OrderMoves order={shown} onMove={(status) => void move(status)} />
            <OrderFacts order={shown} />
            <OrderHistory id={id} />
          </>
        )}
      </ResourceView>
      {conflict}
    </Drawer>
  )
}

function confirmExpiry(id: string): Promise<boolean> {
  const { expireTitle, expireText, moves } = orderWords()
  return confirmAction({
    title: expireTitle(id),
    text: expireText,
    action: moves.expired,
    isDestructive: true,
  })
}

interface OrderMovesProps {
  readonly order: Order
  readonly onMove: (status: OrderStatus) => void
}

function OrderMoves({ order: { status }, onMove }: OrderMovesProps) {
  const words = orderWords()
  return (
    <div class="actions">
      <StatusBadge tone={ORDER_TONES[status]} label={words.statuses[status]} />
      {session.may('moveOrder') &&
        ORDER_MOVES[status].map((each) => (
          <button
            key={each}
            class={each === 'expired' ? 'button button-danger' : 'button'}
            type="button"
            onClick={() => onMove(each)}
          >
            {words.moves[each]}
          </button>
        ))}
    </div>
  )
}

const TIMES = ['created_at', 'expires_at', 'paid_at', 'shipped_at', 'completed_at', 'expired_at'] as const

function OrderFacts({ order }: { readonly order: Order }) {
  const { fields } = orderWords()
  const times = TIMES.filter((name) => order[name] !== null)
  return (
    <FactList
      facts={[
        [fields.platform, order.platform],
        [fields.amount_cents, localAmount(order.amount_cents)],
        ...times.map((name) => [fields[name], localTime(order[name])] as const),
      ]}
    />
  )
}

function OrderHistory({ id }: { readonly id: string }) {
  const words = orderWords()
  const history = useResource(orderHistory, id)
  return (
    <section>
      <h3 class="section-title">{words.history}</h3>
      <ResourceView model={history}>
        {({ items }) => (
          <Timeline
            label={words.history}
            entries={items.map(({ at, from, to, actor }) => ({
              key: `${at} ${to}`,
              at,
              tone: ORDER_TONES[to],
              title: from === null ? words.created : words.statuses[to],
              note: <bdi>{words.by(actor)}</bdi>,
            }))}
          />
        )}
      </ResourceView>
    </section>
  )
}
