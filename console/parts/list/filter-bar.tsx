import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { useId } from 'preact/hooks'
import { serverClock } from '../../api/browser.ts'
import { localDistance, localNumber } from '../../i18n/local.ts'
import { Icon } from '../icon.tsx'
import { partWords } from '../part-words.ts'
import { LATEST_INPUT, toLocalInput } from '../form/local-time.ts'
import { addressOf, isFiltered, withFilter, type ListFilter, type ListQuery } from './list-query.ts'

export interface FilterBarProps {
  /** The path of the list. */
  readonly path: string
  readonly filters: readonly ListFilter[]
  readonly query: ListQuery
  /** By the names of the filters. */
  readonly labels: Readonly<Record<string, string>>
  /** The words for a value of a choice. */
  readonly labelOf: (name: string, value: string) => string
}

/** The filters of a list; each change is a new address. A phone shows them on request. */
export function FilterBar({ path, filters, query, labels, labelOf }: FilterBarProps) {
  const { route } = useLocation()
  const words = partWords()
  const isOpen = useSignal(false)
  // An input is made anew: the browser would keep a time of which a part is missing.
  const clearings = useSignal(0)
  const used = filters.filter(({ name }) => query[name] !== undefined).length
  return (
    <search class={isOpen.value ? 'filters filters-open' : 'filters'} aria-label={words.filters}>
      <button
        class="button filter-toggle"
        type="button"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <Icon name="filter" />
        {used === 0 ? words.filters : words.filtersUsed(localNumber(used))}
      </button>
      {filters.filter(isHere).map((filter) => (
        <label class="filter" key={filter.name}>
          <span class="filter-name">{labels[filter.name] ?? filter.name}</span>
          <FilterInput
            key={clearings.value}
            filter={filter}
            value={query[filter.name] ?? ''}
            labelOf={labelOf}
            onChange={(value) => route(withFilter(path, query, filter.name, value))}
          />
        </label>
      ))}
      {isFiltered(query) && (
        <button
          class="button button-quiet"
          type="button"
          onClick={({ currentTarget }) => {
            clearings.value += 1
            route(addressOf(path, {}))
            // The button goes away.
            const bar = currentTarget.closest('search')
            requestAnimationFrame(() => bar?.querySelector<HTMLElement>('.input')?.focus())
          }}
        >
          {words.clearFilters}
        </button>
      )}
    </search>
  )
}

function isHere(filter: ListFilter): boolean {
  return filter.kind !== 'text' || !filter.isElsewhere
}

interface FilterInputProps {
  readonly filter: ListFilter
  readonly value: string
  readonly labelOf: FilterBarProps['labelOf']
  readonly onChange: (value: string) => void
}

function FilterInput({ filter, value, labelOf, onChange }: FilterInputProps) {
  if (isChosen(filter)) {
    return (
      <select class="input" value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">{unfilteredLabel(filter, labelOf)}</option>
        {choicesOf(filter, value).map((each) => (
          <option key={each} value={each}>
            {labelOf(filter.name, each)}
          </option>
        ))}
      </select>
    )
  }
  if (filter.kind === 'time') return <TimeInput filter={filter} value={value} onChange={onChange} />
  return <TextInput filter={filter} value={value} onChange={onChange} />
}

const MINUTE_MS = 60_000
const FIRST_YEAR = 1_000
// The usual periods that reach to the present.
const PERIODS_MS = [10, 60, 24 * 60, 7 * 24 * 60].map((minutes) => minutes * MINUTE_MS)

interface TimeInputProps extends Pick<FilterInputProps, 'value' | 'onChange'> {
  readonly filter: Extract<ListFilter, { kind: 'time' }>
}

/** The begin of a period has the usual ones to choose from. */
function TimeInput({ filter, value, onChange }: TimeInputProps) {
  const id = useId()
  const now = useSignal(serverClock.now())
  const isBegin = filter.name.endsWith('_from')
  return (
    <>
      <input
        class="input"
        type="datetime-local"
        max={LATEST_INPUT}
        value={toLocalInput(value)}
        {...(isBegin && { list: id })}
        onFocus={() => (now.value = serverClock.now())}
        onChange={({ currentTarget: { value: given } }) => {
          const time = new Date(given)
          // Each digit of a year is a change.
          if (given === '' || time.getFullYear() >= FIRST_YEAR) onChange(given && time.toISOString())
        }}
      />
      {isBegin && (
        <datalist id={id}>
          {PERIODS_MS.map((period) => {
            const begin = new Date(now.value - period).toISOString()
            return <option key={period} value={toLocalInput(begin)} label={localDistance(begin, now.value)} />
          })}
        </datalist>
      )}
    </>
  )
}

interface TextInputProps extends Pick<FilterInputProps, 'value' | 'onChange'> {
  readonly filter: Extract<ListFilter, { kind: 'text' | 'reference' }>
}

function TextInput({ filter, value, onChange }: TextInputProps) {
  const id = useId()
  const suggestions = (filter.kind === 'text' && filter.suggestions?.()) || []
  return (
    <>
      <input
        class="input"
        type="text"
        value={value}
        placeholder={placeholderOf(filter)}
        spellcheck={false}
        {...(suggestions.length > 0 && { list: id })}
        onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
      />
      {suggestions.length > 0 && (
        <datalist id={id}>
          {suggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  )
}

function placeholderOf(filter: ListFilter): string {
  const { textOf, exactId } = partWords()
  if (filter.kind === 'reference') return exactId
  return textOf[(filter.kind === 'text' && filter.match) || 'whole']
}

type ChoiceFilter = Extract<ListFilter, { kind: 'choice' | 'reference' }>

/** A reference is typed by a user who may not list what it refers to. */
function isChosen(filter: ListFilter): filter is ChoiceFilter {
  return filter.kind === 'choice' || (filter.kind === 'reference' && filter.choices().length > 0)
}

function choicesOf(filter: ChoiceFilter, value: string): readonly string[] {
  if (filter.kind === 'choice') return filter.values
  const choices = filter.choices()
  return value === '' || choices.includes(value) ? choices : [...choices, value]
}

function unfilteredLabel(filter: ChoiceFilter, labelOf: FilterBarProps['labelOf']): string {
  const preset = filter.kind === 'choice' ? filter.preset : undefined
  return preset === undefined ? partWords().all : labelOf(filter.name, preset)
}

/** Moves to the first filter that is typed. */
export function focusTextFilter(): void {
  document.querySelector<HTMLElement>('.filters input[type="text"]')?.focus()
}
