import type { OperationName } from '../../api/operations.ts'
import { isolated } from '../../i18n/isolated.ts'
import type { Action } from '../../parts/actions/actions.ts'
import { addressOf } from '../../parts/list/list-query.ts'
import { foundAddress } from './orders/find-order.ts'
import { pathOf } from './view.ts'
import { session } from './platform.ts'
import { shellWords } from './shell-words.ts'

// docs/specification.md, Orders
const ORDER_ID = /^[A-Za-z0-9._:-]{1,64}$/
// A word without a digit is more likely meant as the name of something to do; the search of the orders takes every id.
const DIGIT = /\d/
// The ids of all other objects (RFC 9562).
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

type ObjectWord = keyof ReturnType<typeof shellWords>['openObject']

interface Findable {
  readonly word: ObjectWord
  /** By default that of the object with this id. */
  readonly addressOf?: (text: string) => Promise<string>
  readonly page: string
  /** An object is offered to users who may call it. */
  readonly operation: OperationName
  readonly mayBe: (text: string) => boolean
}

const isUuid = (text: string) => UUID.test(text)

/** What is found by its id. */
const FINDABLE: readonly Findable[] = [
  { word: 'ticket', page: 'tickets', operation: 'getTicket', mayBe: isUuid },
  { word: 'alert', page: 'alerts', operation: 'getAlert', mayBe: isUuid },
  { word: 'execution', page: 'executions', operation: 'getExecution', mayBe: isUuid },
  { word: 'certificate', page: 'certificates', operation: 'getCertificate', mayBe: isUuid },
  { word: 'user', page: 'users', operation: 'getUser', mayBe: isUuid },
  {
    word: 'order',
    page: 'orders',
    operation: 'getOrder',
    mayBe: (text) => ORDER_ID.test(text) && DIGIT.test(text),
    addressOf: foundAddress,
  },
]

/** What a text in the command palette may be besides the name of an action: the id of an object. */
export function suggestObjects(text: string, route: (address: string) => void): readonly Action[] {
  const { openObject } = shellWords()
  return FINDABLE.filter(({ operation, mayBe }) => mayBe(text) && session.may(operation)).map(
    ({ word, page, addressOf: find }) => ({
      title: openObject[word](text),
      async run() {
        route(find ? await find(text) : `${pathOf({ name: page })}/${encodeURIComponent(text)}`)
      },
    }),
  )
}

interface Searchable {
  readonly word: keyof ReturnType<typeof shellWords>['searchIn']
  readonly operation: OperationName
  readonly addressOf: (text: string) => string
  readonly mayBe?: (text: string) => boolean
}

const SEARCHABLE: readonly Searchable[] = [
  {
    word: 'orders',
    operation: 'listOrders',
    addressOf: (text) => addressOf(pathOf({ name: 'orders' }), { id_prefix: text }),
    mayBe: (text) => ORDER_ID.test(text),
  },
  {
    word: 'alerts',
    operation: 'listAlerts',
    addressOf: (text) => addressOf(pathOf({ name: 'alerts' }), { text }),
  },
  {
    word: 'tickets',
    operation: 'listTickets',
    addressOf: (text) => addressOf(pathOf({ name: 'tickets' }), { text }),
  },
]

// One letter is the beginning of a word.
const SHORTEST_SEARCH = 2

/** The lists in which a text of the command palette can be searched. */
export function suggestSearches(text: string, route: (address: string) => void): readonly Action[] {
  const { searchIn } = shellWords()
  if (text.length < SHORTEST_SEARCH || UUID.test(text)) return []
  return SEARCHABLE.filter(({ operation, mayBe }) => session.may(operation) && (mayBe?.(text) ?? true)).map(
    ({ word, addressOf: address }) => ({
      title: searchIn[word](isolated(text)),
      run: () => route(address(text)),
    }),
  )
}
