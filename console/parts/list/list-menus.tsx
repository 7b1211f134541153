import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import { isolateText } from '../../i18n/isolate-text.ts'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { partWords } from '../part-words.ts'
import { Popover } from '../popover.tsx'
import { showToast } from '../toast.tsx'
import { useFocusReturn } from '../use-focus-return.ts'
import type { TableColumn } from './data-table.tsx'
import { keepList, keepView, keptList, removeView, renameView, type KeptView } from './list-memory.ts'
import { addressOf, withCursor, withParameters, type ListQuery } from './list-query.ts'
import { listWords } from './list-words.ts'

/** The columns that the list shows: those of its address, or else those that the user has chosen before. */
export function shownColumns<Item>(
  columns: readonly TableColumn<Item>[],
  path: string,
  query: ListQuery,
  sortedBy: string | undefined,
): readonly TableColumn<Item>[] {
  const chosen = new Set(query['columns']?.split(',') ?? keptList(path).columns ?? usualKeys(columns))
  return columns.filter(({ key }, at) => at === 0 || chosen.has(key) || key === sortedBy)
}

function usualKeys<Item>(columns: readonly TableColumn<Item>[]): readonly string[] {
  return columns.filter(({ isOptional }) => !isOptional).map(({ key }) => key)
}

export interface ListMenuProps {
  readonly path: string
  readonly query: ListQuery
  readonly columns: readonly TableColumn<never>[]
  readonly visible: readonly TableColumn<never>[]
}

/** Chooses the columns of a list; the choice is kept in the browser. */
export function ColumnsMenu({ path, query, columns, visible }: ListMenuProps) {
  const { route } = useLocation()
  const words = listWords()
  const keys = visible.map(({ key }) => key)
  const choose = (wanted: readonly string[] | undefined) => {
    keepList(path, (kept) => ({ ...kept, columns: wanted }))
    // The columns in the address of a view would win over the choice: the view is left.
    if (query['columns'] !== undefined) route(withParameters(path, query, { columns: '' }), true)
  }
  return (
    <BarPopover label={words.columns} icon="board">
      {() => (
        <>
          {columns.slice(1).map(({ key, title }) => (
            <label class="checkbox" key={key}>
              <input
                type="checkbox"
                checked={keys.includes(key)}
                onChange={({ currentTarget: { checked } }) =>
                  choose(checked ? [...keys, key] : keys.filter((other) => other !== key))
                }
              />
              {title}
            </label>
          ))}
          <Button kind="quiet" onClick={() => choose(undefined)}>
            {words.usualColumns}
          </Button>
        </>
      )}
    </BarPopover>
  )
}

/** The views that the user has kept of a list, and the form that keeps the present one. */
export function ViewsMenu({ path, query, visible, columns }: ListMenuProps) {
  const words = listWords()
  const views = keptList(path).views ?? []
  /** The view that is being renamed; null for none. */
  const renamed = useSignal<string | null>(null)
  // The line of a removed view goes away, and its button with the focus.
  const returnFocus = useFocusReturn((panel: HTMLElement | null) => panel?.querySelector('input') ?? null)
  const { cursor: _, ...firstPage } = query
  const keys = visible.map(({ key }) => key)
  const isUsual = String(keys) === String(usualKeys(columns))
  const present: ListQuery = { ...firstPage, ...(!isUsual && { columns: String(keys) }) }
  const current = views.find((view) => addressOf('', view.query) === addressOf('', firstPage))
  return (
    <BarPopover label={words.views} face={current?.name} icon="view">
      {(close) => (
        <>
          {views.length === 0 && <p class="hint">{words.noViews}</p>}
          <ul class="kept-views">
            {views.map((view) => (
              <li key={view.name}>
                {renamed.value === view.name ? (
                  <NameForm
                    label={words.viewName}
                    name={view.name}
                    action={words.rename}
                    onName={(name) => {
                      renameView(path, view.name, name)
                      renamed.value = null
                    }}
                  />
                ) : (
                  <ViewLine
                    path={path}
                    view={view}
                    isCurrent={view === current}
                    onOpen={close}
                    onRename={() => (renamed.value = view.name)}
                    onRemove={(button) => {
                      returnFocus(button.closest<HTMLElement>('.popover-panel'))
                      removeView(path, view.name)
                    }}
                  />
                )}
              </li>
            ))}
          </ul>
          <NameForm
            label={words.newView}
            name=""
            action={partWords().save}
            onName={(name) => {
              keepView(path, { name, query: present })
              close()
              showToast('good', words.viewSaved(isolateText(name)))
            }}
          />
        </>
      )}
    </BarPopover>
  )
}

interface ViewLineProps {
  readonly path: string
  readonly view: KeptView
  readonly isCurrent: boolean
  readonly onOpen: () => void
  readonly onRename: () => void
  readonly onRemove: (button: HTMLElement) => void
}

/** A view is an address, so that the browser can copy it, or open it in another tab. */
function ViewLine({ path, view: { name, query }, isCurrent, onOpen, onRename, onRemove }: ViewLineProps) {
  const words = listWords()
  return (
    <>
      <a
        class="choice"
        href={withCursor(path, query, null)}
        onClick={onOpen}
        {...(isCurrent && { 'aria-current': 'true' as const })}
      >
        <bdi>{name}</bdi>
      </a>
      <Button
        kind="icon"
        icon="edit"
        aria-label={words.renameView(isolateText(name))}
        title={words.rename}
        onClick={onRename}
      />
      <Button
        kind="icon"
        icon="close"
        aria-label={words.removeView(isolateText(name))}
        title={words.remove}
        onClick={({ currentTarget }) => onRemove(currentTarget)}
      />
    </>
  )
}

const LONGEST_NAME = 60

interface NameFormProps {
  readonly label: string
  readonly name: string
  readonly action: string
  readonly onName: (name: string) => void
}

function NameForm({ label, name, action, onName }: NameFormProps) {
  const text = useSignal(name)
  return (
    <form
      class="name-form"
      onSubmit={(event) => {
        event.preventDefault()
        const trimmed = text.value.trim()
        if (trimmed !== '') onName(trimmed)
      }}
    >
      <input
        class="input"
        type="text"
        aria-label={label}
        placeholder={label}
        maxLength={LONGEST_NAME}
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <Button type="submit">{action}</Button>
    </form>
  )
}

interface BarPopoverProps {
  readonly label: string
  readonly icon: 'board' | 'view'
  /** What the button says; by default the label. */
  readonly face?: string | undefined
  readonly children: (close: () => void) => ComponentChildren
}

function BarPopover({ label, icon, face = label, children }: BarPopoverProps) {
  const isOpen = useSignal(false)
  const close = () => (isOpen.value = false)
  return (
    <Popover
      label={label}
      kind="dialog"
      face={
        <>
          <Icon name={icon} />
          <bdi class={face === label ? 'bar-label' : 'chip-value'}>{face}</bdi>
        </>
      }
      isOpen={isOpen.value}
      onOpen={() => (isOpen.value = true)}
      onClose={close}
    >
      {isOpen.value && children(close)}
    </Popover>
  )
}
