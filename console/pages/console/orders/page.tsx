import { useLocation } from 'preact-iso/router'
import { useActions } from '../../../parts/actions/actions.ts'
import { FindBox, focusFindBox } from '../../../parts/list/find-box.tsx'
import { readListQuery, withFilter, type ListQuery } from '../../../parts/list/list-query.ts'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { session } from '../platform.ts'
import { orderColumns } from './columns.tsx'
import { OrderDrawer } from './drawer.tsx'
import { foundAddress } from './find-order.ts'
import { isFinal, type OrderStatus } from './model.ts'
import { NewOrder } from './new-order.tsx'
import { orderList } from './source.ts'
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
