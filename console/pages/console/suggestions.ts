import type { Action } from '../../parts/actions/actions.ts'
import { pathOf } from './view.ts'
import { session } from './platform.ts'
import { shellWords } from './shell-words.ts'

// docs/specification.md, Orders
const ORDER_ID = /^[A-Za-z0-9._:-]{1,64}$/

/** What a text in the command palette may be besides the name of an action: the id of an order. */
export function suggestObjects(text: string, route: (address: string) => void): readonly Action[] {
  if (!ORDER_ID.test(text) || !session.may('getOrder')) return []
  const address = `${pathOf({ name: 'orders' })}/${encodeURIComponent(text)}`
  return [{ title: shellWords().openOrder(text), run: () => route(address) }]
}
