import { useSignal } from '@preact/signals'
import { useActions } from '../../../parts/actions/actions.ts'
import { Icon } from '../../../parts/icon.tsx'
import { DataTable } from '../../../parts/list/data-table.tsx'
import { FilterBar } from '../../../parts/list/filter-bar.tsx'
import { FindBox, focusFindBox } from '../../../parts/list/find-box.tsx'
import { isFiltered } from '../../../parts/list/list-query.ts'
import { Pager } from '../../../parts/list/pager.tsx'
import { useList } from '../../../parts/list/use-list.ts'
import { useSelectedItem } from '../../../parts/list/use-selected-item.ts'
import { ListAndDetail } from '../../../parts/list-and-detail.tsx'
import { PageHead } from '../../../parts/page-head.tsx'
import { EmptyState } from '../../../parts/states.tsx'
import { pathOf, type PageProps } from '../pages.ts'
import { session } from '../platform.ts'
import { orderColumns } from './columns.tsx'
import { OrderDrawer } from './drawer.tsx'
import { ORDER_FILTERS, type OrderStatus } from './model.ts'
import { NewOrder } from './new-order.tsx'
import { orderList } from './source.ts'
import { orderWords } from './words.ts'

const PATH = pathOf({ name: 'orders' })

/** The orders: the list, and beside it the order that the address names. */
export function OrdersPage({ id }: PageProps) {
  const words = orderWords()
  const isCreating = useSignal(false)
  const { model, query } = useList(orderList)
  const { hrefOf, open, close } = useSelectedItem(PATH, query)
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
      <FilterBar
        path={PATH}
        filters={ORDER_FILTERS}
        query={query}
        labels={words.fields}
        labelOf={(_, value) => words.statuses[value as OrderStatus]}
      />
      <ListAndDetail detail={id !== undefined && <OrderDrawer key={id} id={id} onClose={close} />}>
        <DataTable
          label={words.list}
          model={model}
          keyOf={orderList.keyOf}
          columns={orderColumns(words)}
          hrefOf={({ order_id }) => hrefOf(order_id)}
          selected={id ?? null}
          empty={<EmptyState icon="orders" title={isFiltered(query) ? words.noMatch : words.empty} />}
        />
        <Pager path={PATH} query={query} model={model} />
      </ListAndDetail>
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
