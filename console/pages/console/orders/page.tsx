import { useSignal } from '@preact/signals'
import { useActions } from '../../../parts/actions/actions.ts'
import { Icon } from '../../../parts/icon.tsx'
import { FindBox, focusFindBox } from '../../../parts/list/find-box.tsx'
import { ListView } from '../../../parts/list/list-view.tsx'
import { useList } from '../../../parts/list/use-list.ts'
import { useSelectedItem } from '../../../parts/list/use-selected-item.ts'
import { PageHead } from '../../../parts/page-head.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { session } from '../platform.ts'
import { orderColumns } from './columns.tsx'
import { OrderDrawer } from './drawer.tsx'
import type { OrderStatus } from './model.ts'
import { NewOrder } from './new-order.tsx'
import { orderList } from './source.ts'
import { orderWords } from './words.ts'

const PATH = pathOf({ name: 'orders' })

/** The orders: the list, and beside it the order that the address names. */
export function OrdersPage({ id }: ViewProps) {
  const words = orderWords()
  const isCreating = useSignal(false)
  const list = useList(orderList)
  const { hrefOf, open, close } = useSelectedItem(PATH, list.query)
  const mayCreate = session.may('createOrder')
  const create = () => (isCreating.value = true)
  useActions(() => [
    { title: words.find, keys: '/', run: focusFindBox },
    ...(mayCreate ? [{ title: words.newOrder, keys: 'n', run: create }] : []),
  ])
  return (
    <>
      <PageHead title={words.title}>
        <FindBox label={words.find} onFind={open} />
        {mayCreate && (
          <button class="button button-main" type="button" onClick={create}>
            <Icon name="plus" />
            {words.newOrder}
          </button>
        )}
      </PageHead>
      <ListView
        path={PATH}
        source={orderList}
        list={list}
        words={words}
        labelOf={(_, value) => words.statuses[value as OrderStatus]}
        columns={orderColumns(words)}
        icon="orders"
        hrefOf={({ order_id }) => hrefOf(order_id)}
        selected={id}
        detail={id !== undefined && <OrderDrawer key={id} id={id} onClose={close} />}
      />
      {isCreating.value && (
        <NewOrder
          onClose={() => (isCreating.value = false)}
          onCreated={(order) => {
            isCreating.value = false
            open(order.order_id)
          }}
        />
      )}
    </>
  )
}
