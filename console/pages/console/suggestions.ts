import type { OperationName } from '../../api/operations.ts'
import { isolateText } from '../../i18n/isolate-text.ts'
import type { Action } from '../../parts/actions/actions.ts'
import { addressOf } from '../../parts/list/list-query.ts'
import { reportFailure } from '../../parts/report-failure.ts'
import { showToast } from '../../parts/toast.tsx'
import { matchActions } from '../../parts/actions/match.ts'
import { commandAddress, commandChoices, commandLabel } from './command-names.ts'
import { orderAddress } from './orders/find-order.ts'
import { pathOf } from './view.ts'
import { call, session } from './platform.ts'
import { shellWords } from './shell-words.ts'

// docs/specification.md, Orders
const ORDER_ID = /^[A-Za-z0-9._:-]{1,64}$/
// A word without a digit more likely names an action than an id; the search of the orders takes every id.
const DIGIT = /\d/
// The ids of all other objects (RFC 9562).
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

// The operations that read an object by such an id. There is none for a session of the VPN.
const PAGES_BY_OPERATION = {
  getTicket: 'tickets',
  getAlert: 'alerts',
  getSilence: 'silences',
  getExecution: 'executions',
  getPayment: 'payments',
  getCertificate: 'certificates',
  getMessage: 'messages',
  getDataBackup: 'data-backups',
  getUser: 'users',
} as const satisfies Partial<Record<OperationName, string>>

const NOT_FOUND = 404

type FindOperation = keyof typeof PAGES_BY_OPERATION
const FIND_OPERATIONS = Object.keys(PAGES_BY_OPERATION) as FindOperation[]

/** The objects that a text in the command palette may name by their ids. */
export function suggestObjects(text: string, route: (address: string) => void): readonly Action[] {
  const { openOrder, openObject } = shellWords()
  const byId = UUID.test(text) && {
    title: openObject(text),
    run: () => void openById(text, route),
  }
  const mayBeOrder = ORDER_ID.test(text) && DIGIT.test(text) && session.may('getOrder')
  const order = mayBeOrder && {
    title: openOrder(text),
    run: async () => route(await orderAddress(text)),
  }
  return [byId, order].filter((action) => action !== false)
}

/** An id does not name the kind of its object, so that each kind is looked up. */
async function openById(id: string, route: (address: string) => void): Promise<void> {
  const lookUps = FIND_OPERATIONS.filter((operation) => session.may(operation)).map(async (operation) => {
    return { page: PAGES_BY_OPERATION[operation], result: await call(operation, { path: { id } }) }
  })
  const answers = await Promise.all(lookUps)
  const found = answers.find(({ result }) => result.ok)
  if (found) return route(pathOf(found.page, id))
  const failures = answers.flatMap(({ result }) => (result.ok ? [] : [result.failure]))
  const failure = failures.find(({ status }) => status !== NOT_FOUND)
  if (failure) reportFailure(failure)
  else showToast('warning', shellWords().noObject(id))
}

/** The commands that the user may run, by their names. */
export function suggestCommands(text: string, route: (address: string) => void): readonly Action[] {
  if (text.length < SHORTEST_SEARCH) return []
  const actions = commandChoices().flatMap((id) => {
    const address = commandAddress(id)
    if (!address?.startsWith(`${pathOf('commands')}/`)) return []
    return [
      {
        title: shellWords().runCommand(isolateText(commandLabel(id))),
        keywords: id,
        run: () => route(address),
      },
    ]
  })
  return matchActions(actions, text)
}

interface Searchable {
  readonly word: keyof ReturnType<typeof shellWords>['searchIn']
  readonly operation: OperationName
  readonly addressOf: (text: string) => string
  readonly appliesTo?: (text: string) => boolean
}

const SEARCHABLE: readonly Searchable[] = [
  {
    word: 'orders',
    operation: 'listOrders',
    addressOf: (text) => addressOf(pathOf('orders'), { id_prefix: text }),
    appliesTo: (text) => ORDER_ID.test(text),
  },
  {
    word: 'alerts',
    operation: 'listAlerts',
    addressOf: (text) => addressOf(pathOf('alerts'), { text }),
  },
  {
    word: 'tickets',
    operation: 'listTickets',
    addressOf: (text) => addressOf(pathOf('tickets'), { text }),
  },
]

// A single letter is not worth a search.
const SHORTEST_SEARCH = 2

/** The lists in which a text of the command palette can be searched. */
export function suggestSearches(text: string, route: (address: string) => void): readonly Action[] {
  const { searchIn } = shellWords()
  if (text.length < SHORTEST_SEARCH || UUID.test(text)) return []
  return SEARCHABLE.filter(
    ({ operation, appliesTo }) => session.may(operation) && (appliesTo?.(text) ?? true),
  ).map(({ word, addressOf: address }) => ({
    title: searchIn[word](isolateText(text)),
    run: () => route(address(text)),
  }))
}
