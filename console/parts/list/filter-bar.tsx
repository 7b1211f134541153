import { batch, useSignal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useLocation } from 'preact-iso/router'
import { useId, useRef } from 'preact/hooks'
import { localTime } from '../../i18n/local.ts'
import { useActions } from '../actions/actions.ts'
import { Button } from '../button.tsx'
import { LATEST_INPUT, toLocalInput } from '../form/local-time.ts'
import { Icon } from '../icon.tsx'
import { partWords } from '../part-words.ts'
import { Choices, Popover, type ChoicesProps } from '../popover.tsx'
import { useFocusReturn } from '../use-focus-return.ts'
import { FindBox } from './find-box.tsx'
import {
  addressOf,
  boundsOf,
  isFiltered,
  isPeriodWord,
  parametersOf,
  periodWordsOf,
  withFilter,
  withoutFilters,
  withParameters,
  type ListFilter,
  type ListQuery,
  type PeriodFilter,
} from './list-query.ts'
import { listWords, type ListWords } from './list-words.ts'

export interface FilterBarProps {
  /** The path of the list. */
  readonly path: string
  readonly filters: readonly ListFilter[]
  readonly query: ListQuery
  /** The words of the list; `fields` has the names of the filters, or of what they are about. */
  readonly words: Pick<ListWords, 'fields' | 'find'>
  /** The words for a value of a choice. */
  readonly labelOf: (name: string, value: string) => string
  /** The search box of the list; without one, that of its text filter. */
  readonly findBox?: ComponentChildren
  /** What else the bar has, at its end. */
  readonly children?: ComponentChildren
}

/** The filters of a list, each a chip with its value; each change is a new address. */
export function FilterBar({ path, filters, query, words, labelOf, findBox, children }: FilterBarProps) {
  const { fields, find } = words
  const { route, url } = useLocation()
  const bar = useRef<HTMLDivElement>(null)
  /** The name of the filter that the user edits. */
  const edited = useSignal<string | null>(null)
  const titleOf = ({ name }: ListFilter) => fields[name] ?? fields[`${name}_at`] ?? name
  const search = filters.find(isSearch)
  const chips = filters.filter((filter) => filter !== search && !isElsewhere(filter))
  const isShown = (filter: ListFilter) =>
    edited.value === filter.name || valueText(filter, query, labelOf) !== undefined
  const others = chips.filter((filter) => !isShown(filter))
  const returnFocus = useChipFocus(bar, url)
  const go = (address: string, name = '') => {
    edited.value = null
    returnFocus({ address, name })
    route(address)
  }
  const clear = () => go(addressOf(path, withoutFilters(query)))
  const close = (name: string) => {
    if (edited.peek() === name) edited.value = null
    // The focus returns unless the user has moved it elsewhere.
    if (document.activeElement?.matches('.chip-edit')) returnFocus({ address: url, name })
  }
  return (
    <div class="list-bar" role="group" aria-label={listWords().filters} ref={bar}>
      {findBox}
      {search && (
        <FindBox
          label={find ?? titleOf(search)}
          text={query[search.name]}
          onFind={(text) => route(withFilter(path, query, search.name, text))}
        />
      )}
      {chips.filter(isShown).map((filter) => (
        <FilterChip
          key={filter.name}
          filter={filter}
          query={query}
          title={titleOf(filter)}
          labelOf={labelOf}
          isOpen={edited.value === filter.name}
          onOpen={() => (edited.value = filter.name)}
          onClose={() => close(filter.name)}
          onApply={(values) => go(withParameters(path, query, values), filter.name)}
        />
      ))}
      {others.length > 0 && (
        <AddFilter
          choices={others.map((filter) => ({ key: filter.name, title: titleOf(filter) }))}
          onChoose={(name) => (edited.value = name)}
        />
      )}
      {isFiltered(query) && (
        <Button kind="quiet" onClick={clear}>
          {listWords().clearFilters}
        </Button>
      )}
      {children && <div class="list-bar-end">{children}</div>}
    </div>
  )
}

/** The menu of the filters that are not set. */
function AddFilter({ choices, onChoose }: ChoicesProps) {
  const { addFilter } = listWords()
  const isOpen = useSignal(false)
  useActions(() => [{ title: addFilter, keys: 'f', run: () => (isOpen.value = true) }])
  return (
    <Popover
      label={addFilter}
      kind="menu"
      buttonClass="button button-quiet add-filter"
      face={
        <>
          <Icon name="filter" />
          {addFilter}
        </>
      }
      isOpen={isOpen.value}
      onOpen={() => (isOpen.value = true)}
      onClose={() => (isOpen.value = false)}
    >
      <Choices
        choices={choices}
        onChoose={(name) =>
          batch(() => {
            isOpen.value = false
            onChoose(name)
          })
        }
      />
    </Popover>
  )
}

/** Whether the filter finds a text in the items: it has a box of its own. */
function isSearch(filter: ListFilter): boolean {
  return filter.kind === 'text' && filter.match === 'part'
}

function isElsewhere(filter: ListFilter): boolean {
  return filter.kind === 'text' && filter.isElsewhere === true
}

/** The chip of a filter, and the address at which it shows the value that was chosen. */
interface ChipPlace {
  readonly address: string
  readonly name: string
}

/** A chip may be gone after a change; then the focus goes to the first of the others. */
function useChipFocus(bar: RefObject<HTMLElement | null>, url: string): (place: ChipPlace) => void {
  return useFocusReturn(({ address, name }: ChipPlace) => {
    if (url !== address) return undefined
    const find = (selector: string) => bar.current?.querySelector<HTMLElement>(selector)
    return find(`[data-filter="${name}"] button`) ?? find('.add-filter, button') ?? null
  })
}

interface FilterChipProps {
  readonly filter: ListFilter
  readonly query: ListQuery
  readonly title: string
  readonly labelOf: FilterBarProps['labelOf']
  readonly isOpen: boolean
  readonly onOpen: () => void
  readonly onClose: () => void
  /** Takes the new values of the parameters; an empty one is none. */
  readonly onApply: (values: ListQuery) => void
}

/** A filter with its value: a click changes it, the cross takes it away. */
function FilterChip({ filter, query, title, labelOf, isOpen, onOpen, onClose, onApply }: FilterChipProps) {
  const words = listWords()
  const isSet = parametersOf(filter).some((name) => query[name] !== undefined)
  return (
    <div class={isSet ? 'chip chip-set' : 'chip'} data-filter={filter.name}>
      <Popover
        label={title}
        kind={isChosen(filter) ? 'menu' : 'dialog'}
        buttonClass="chip-edit"
        face={
          <>
            {words.chip(title)}
            <bdi class="chip-value">{valueText(filter, query, labelOf) ?? '…'}</bdi>
          </>
        }
        isOpen={isOpen}
        onOpen={onOpen}
        onClose={onClose}
      >
        <FilterEditor filter={filter} query={query} labelOf={labelOf} onApply={onApply} />
      </Popover>
      {isSet && (
        <button
          class="chip-remove"
          type="button"
          aria-label={words.removeFilter(title)}
          onClick={() => onApply(emptyOf(filter))}
        >
          <Icon name="close" />
        </button>
      )}
    </div>
  )
}

function emptyOf(filter: ListFilter): ListQuery {
  return Object.fromEntries(parametersOf(filter).map((name) => [name, '']))
}

/** The value of a filter in words; undefined if it has none. */
function valueText(
  filter: ListFilter,
  query: ListQuery,
  labelOf: FilterBarProps['labelOf'],
): string | undefined {
  if (filter.kind === 'period') return periodText(filter, query)
  const value = query[filter.name] ?? (filter.kind === 'choice' ? filter.preset : undefined)
  if (value === undefined) return undefined
  if (filter.kind === 'text') return filter.wordsOf?.(value) ?? value
  return labelOf(filter.name, value)
}

function periodText(filter: PeriodFilter, query: ListQuery): string | undefined {
  const { periods, since, until, between } = listWords()
  const word = query[filter.name] ?? ''
  if (isPeriodWord(word)) return periods[word]
  const [from, to] = boundsOf(filter).map((name) => query[name ?? ''])
  if (from !== undefined && to !== undefined) return between(localTime(from), localTime(to))
  if (from !== undefined) return since(localTime(from))
  return to === undefined ? undefined : until(localTime(to))
}

type EditorProps<Filter extends ListFilter = ListFilter> = Pick<
  FilterChipProps,
  'query' | 'labelOf' | 'onApply'
> & {
  readonly filter: Filter
}

function FilterEditor({ filter, ...editor }: EditorProps) {
  if (isChosen(filter)) return <ChoiceEditor {...editor} filter={filter} />
  if (filter.kind === 'period') return <PeriodEditor {...editor} filter={filter} />
  return <TextEditor {...editor} filter={filter} />
}

type ChoiceFilter = Extract<ListFilter, { kind: 'choice' | 'reference' }>

/** Whether the filter is chosen from a list. A reference is typed by users who may not list what it refers to. */
function isChosen(filter: ListFilter): filter is ChoiceFilter {
  return filter.kind === 'choice' || (filter.kind === 'reference' && filter.choices().length > 0)
}

function ChoiceEditor({ filter, query, labelOf, onApply }: EditorProps<ChoiceFilter>) {
  const { name } = filter
  const preset = filter.kind === 'choice' ? filter.preset : undefined
  const current = query[name] ?? preset
  const values = choicesOf(filter, query[name])
  return (
    <Choices
      choices={values.map((value) => ({
        key: value,
        title: labelOf(name, value),
        isChosen: value === current,
      }))}
      onChoose={(value) => onApply({ [name]: value === preset ? '' : value })}
    />
  )
}

function choicesOf(filter: ChoiceFilter, value: string | undefined): readonly string[] {
  if (filter.kind === 'choice')
    return filter.preset === undefined ? filter.values : [filter.preset, ...filter.values]
  const choices = filter.choices()
  return value === undefined || choices.includes(value) ? choices : [...choices, value]
}

function TextEditor({
  filter,
  query,
  onApply,
}: EditorProps<Extract<ListFilter, { kind: 'text' | 'reference' }>>) {
  const id = useId()
  const text = useSignal(query[filter.name] ?? '')
  const { suggestions: suggest, wordsOf } = filter.kind === 'text' ? filter : {}
  const suggestions = suggest?.() ?? []
  const hint = placeholderOf(filter)
  return (
    <form
      class="filter-form"
      onSubmit={(event) => {
        event.preventDefault()
        onApply({ [filter.name]: text.value.trim() })
      }}
    >
      <input
        class="input"
        type="text"
        value={text.value}
        aria-label={hint}
        placeholder={hint}
        spellcheck={false}
        {...(suggestions.length > 0 && { list: id })}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      {suggestions.length > 0 && (
        <datalist id={id}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} label={wordsOf?.(suggestion)} />
          ))}
        </datalist>
      )}
      <ApplyButton />
    </form>
  )
}

function ApplyButton() {
  return (
    <Button kind="main" type="submit">
      {listWords().apply}
    </Button>
  )
}

function placeholderOf(filter: ListFilter): string {
  const { textOf, exactId } = partWords()
  if (filter.kind === 'reference') return exactId
  return textOf[(filter.kind === 'text' && filter.match) || 'whole']
}

function PeriodEditor({ filter, query, onApply }: EditorProps<PeriodFilter>) {
  const words = listWords()
  const [from, to] = boundsOf(filter)
  const input = (name: string, title: string) => (
    <label class="filter">
      <span class="filter-name">{title}</span>
      <input
        class="input"
        type="datetime-local"
        name={name}
        max={LATEST_INPUT}
        defaultValue={toLocalInput(query[name] ?? '')}
      />
    </label>
  )
  return (
    <>
      <div role="menu" aria-label={words.period}>
        <Choices
          choices={periodWordsOf(filter).map((word) => ({
            key: word,
            title: words.periods[word],
            isChosen: query[filter.name] === word,
          }))}
          onChoose={(word) => onApply({ ...emptyOf(filter), [filter.name]: word })}
        />
      </div>
      <form
        class="filter-form"
        aria-label={words.byHand}
        onSubmit={(event) => {
          event.preventDefault()
          const times = [...new FormData(event.currentTarget)].map(([name, time]) => [
            name,
            timeOf(typeof time === 'string' ? time : ''),
          ])
          onApply({ ...emptyOf(filter), ...(Object.fromEntries(times) as ListQuery) })
        }}
      >
        {from !== null && input(from, words.from)}
        {input(to, words.before)}
        <ApplyButton />
      </form>
    </>
  )
}

/** The value of a `datetime-local` input, which is in the zone of the reader, as the API has it. */
function timeOf(local: string): string {
  return local && new Date(local).toISOString()
}
