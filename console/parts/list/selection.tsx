import { useSignal, type Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { ApiResult } from '../../api/operations.ts'
import { isolateText } from '../../i18n/isolate-text.ts'
import { localNumber } from '../../i18n/local.ts'
import { Button } from '../button.tsx'
import { confirmAction } from '../confirm.tsx'
import { describeFailure } from '../failure-words.ts'
import { Choices, Popover, type Choice } from '../popover.tsx'
import { sendEach, type RefusedItem } from '../send-each.ts'
import { showToast } from '../toast.tsx'
import { useFocusReturn } from '../use-focus-return.ts'
import { useListRefresh } from './list-refresh.ts'
import { listWords } from './list-words.ts'

/** A change of several items, each by a request of its own. */
export interface BulkAction<Item> {
  readonly title: string
  /** Whether it is possible for an item; the others are left out. */
  readonly appliesTo?: (item: Item) => boolean
  readonly send: (item: Item) => Promise<ApiResult<unknown>>
  readonly question?: (count: string) => string
  readonly text?: string
  readonly done?: (count: string) => string
  readonly isDestructive?: boolean
}

/** A menu of changes, of which the user chooses one. */
export interface BulkMenu<Item> {
  readonly title: string
  readonly choices: readonly Choice[]
  readonly actionOf: (key: string) => BulkAction<Item>
}

/** What can be done with several items of a list together. */
export interface Bulk<Item> {
  readonly titleOf: (item: Item) => string
  readonly actions: readonly BulkAction<Item>[]
  readonly menus?: readonly BulkMenu<Item>[]
  /** Changes that need a form; `onDone` gets the items for which nothing was done, which stay chosen. */
  readonly more?: (chosen: readonly Item[], onDone: (left: readonly Item[]) => void) => ComponentChildren
}

/** The keys of the chosen items. */
export type ChosenKeys = Signal<ReadonlySet<string>>

interface SelectBoxProps {
  readonly selection: ChosenKeys
  readonly id: string
  readonly title: string
}

/** Chooses one item. */
export function SelectBox({ selection, id, title }: SelectBoxProps) {
  return (
    <input
      class="row-box"
      type="checkbox"
      aria-label={listWords().selectItem(isolateText(title))}
      checked={selection.value.has(id)}
      onChange={() => (selection.value = selection.peek().symmetricDifference(new Set([id])))}
    />
  )
}

interface SelectPageProps {
  readonly selection: ChosenKeys
  /** The keys of the items on this page. */
  readonly keys: readonly string[]
}

/** Chooses the whole page, or nothing. */
export function SelectPage({ selection, keys }: SelectPageProps) {
  const chosen = keys.filter((key) => selection.value.has(key)).length
  const isWhole = chosen > 0 && chosen === keys.length
  return (
    <input
      class="row-box"
      type="checkbox"
      aria-label={listWords().selectPage}
      checked={isWhole}
      indeterminate={chosen > 0 && !isWhole}
      onChange={() => (selection.value = new Set(isWhole ? [] : keys))}
    />
  )
}

export interface SelectionBarProps<Item> {
  readonly bulk: Bulk<Item>
  readonly selection: ChosenKeys
  /** The items on the page: only these can be changed. */
  readonly items: readonly Item[]
  readonly keyOf: (item: Item) => string
}

/** What can be done with the chosen items; nothing while none is chosen. */
export function SelectionBar<Item>({ bulk, selection, items, keyOf }: SelectionBarProps<Item>) {
  const words = listWords()
  const chosen = items.filter((item) => selection.value.has(keyOf(item)))
  // The button that had the focus goes away with the last chosen item.
  const returnFocus = useFocusReturn<void>(() => document.querySelector<HTMLElement>('thead .row-box'))
  const { run, sent, refused } = useBulk(bulk, selection, keyOf, returnFocus)
  if (chosen.length === 0) return null
  const choose = (left: readonly Item[]) => {
    selection.value = new Set(left.map(keyOf))
    returnFocus()
  }
  const isPossible = ({ appliesTo = () => true }: BulkAction<Item>) => chosen.some(appliesTo)
  const possible = bulk.actions.filter(isPossible)
  const harmless = possible.filter(({ isDestructive }) => !isDestructive)
  // Destructive actions stand at the far end.
  const destructive = possible.filter(({ isDestructive }) => isDestructive)
  const count = words.selected(localNumber(chosen.length))
  const buttonOf = (action: BulkAction<Item>) => (
    <Button
      key={action.title}
      kind={action.isDestructive ? 'danger' : undefined}
      onClick={() => void run(action, chosen)}
    >
      {action.title}
    </Button>
  )
  return (
    <div class="selection-bar" role="group" aria-label={count}>
      <span role="status">{sent ?? count}</span>
      {harmless.map(buttonOf)}
      {bulk.menus?.map((menu) => (
        <BulkMenuButton key={menu.title} menu={menu} onChoose={(action) => void run(action, chosen)} />
      ))}
      {bulk.more?.(chosen, choose)}
      <Button kind="quiet" onClick={() => choose([])}>
        {words.selectNone}
      </Button>
      {destructive.map(buttonOf)}
      {refused.length > 0 && (
        <ul class="notes">
          {refused.map(({ item, failure }) => (
            <li key={keyOf(item)}>
              <bdi>{bulk.titleOf(item)}</bdi>: {describeFailure(failure)}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

interface BulkMenuButtonProps<Item> {
  readonly menu: BulkMenu<Item>
  readonly onChoose: (action: BulkAction<Item>) => void
}

function BulkMenuButton<Item>({ menu, onChoose }: BulkMenuButtonProps<Item>) {
  const isOpen = useSignal(false)
  return (
    <Popover
      label={menu.title}
      kind="menu"
      face={menu.title}
      isOpen={isOpen.value}
      onOpen={() => (isOpen.value = true)}
      onClose={() => (isOpen.value = false)}
    >
      <Choices
        choices={menu.choices}
        onChoose={(key) => {
          isOpen.value = false
          onChoose(menu.actionOf(key))
        }}
      />
    </Popover>
  )
}

/** Sends a change for each chosen item; a refused item stays chosen. */
function useBulk<Item>(
  { titleOf }: Bulk<Item>,
  selection: ChosenKeys,
  keyOf: (item: Item) => string,
  returnFocus: () => void,
) {
  const refreshList = useListRefresh()
  const sent = useSignal<string | null>(null)
  const refused = useSignal<readonly RefusedItem<Item>[]>([])
  const run = async (action: BulkAction<Item>, chosen: readonly Item[]) => {
    const words = listWords()
    if (sent.peek() !== null) return
    const targets = chosen.filter(action.appliesTo ?? (() => true))
    const count = localNumber(targets.length)
    const { title, question = words.bulkQuestion(title), done = words.bulkDone(title) } = action
    const { text, isDestructive = false } = action
    const confirmation = {
      title: question(count),
      action: title,
      isDestructive,
      ...(text !== undefined && { text }),
    }
    // A single item is changed as in its drawer, where only a change that cannot be undone asks.
    const asks = targets.length > 1 || isDestructive
    if (asks && !(await confirmAction(confirmation))) return
    const progress = (index: number) => (sent.value = words.sentOf(localNumber(index), count))
    progress(0)
    const outcome = await sendEach(targets, action.send, progress)
    sent.value = null
    refused.value = outcome.refused
    selection.value = new Set(outcome.refused.map(({ item }) => keyOf(item)))
    refreshList()
    showOutcome(done(localNumber(outcome.done)), outcome.refused, titleOf)
    returnFocus()
  }
  return { run, sent: sent.value, refused: refused.value }
}

// A toast with more titles would be too long.
const MOST_NAMED = 3

/** What was done, and which items stayed as they were and why. */
function showOutcome<Item>(
  done: string,
  refused: readonly RefusedItem<Item>[],
  titleOf: (item: Item) => string,
): void {
  const { notDone, andMore } = listWords()
  const [first] = refused
  if (!first) return showToast('good', done)
  const named = refused.slice(0, MOST_NAMED).map(({ item }) => isolateText(titleOf(item)))
  const others = refused.length - named.length
  const names = [...named, ...(others > 0 ? [andMore(localNumber(others))] : [])].join(', ')
  showToast('warning', `${done} ${notDone(names, describeFailure(first.failure))}`)
}
