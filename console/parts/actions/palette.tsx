import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Modal } from '../modal.tsx'
import { partWords } from '../part-words.ts'
import type { Action } from './actions.ts'
import { Keys } from './keys.tsx'
import { writeLocal, readLocal } from '../preferences.ts'
import { matchActions, recentFirst } from './match.ts'

export interface PaletteProps {
  /** What can be done now. */
  readonly actions: () => readonly Action[]
  /** More actions for a text, such as opening the object with that id. */
  readonly suggest: (text: string) => readonly Action[]
  /** The text that is shown when nothing matches. */
  readonly none: string
  readonly onClose: () => void
}

const USED_ACTIONS = 'platform.used-actions'
const MOST_USED = 8

/** The titles of what was chosen last in this browser, the latest first. */
function usedTitles(): readonly string[] {
  return readLocal(USED_ACTIONS)?.split('\n') ?? []
}

function keepUsed(title: string): void {
  writeLocal(USED_ACTIONS, [...new Set([title, ...usedTitles()])].slice(0, MOST_USED).join('\n'))
}

/** A search through everything that can be done (WAI-ARIA, combobox with a list). */
export function Palette({ actions: available, suggest, none, onClose }: PaletteProps) {
  const text = useSignal('')
  const index = useSignal(0)
  const listed = useRef(
    recentFirst(
      available().filter(({ isKeyOnly }) => !isKeyOnly),
      usedTitles(),
    ),
  )
  const actions = [...matchActions(listed.current, text.value), ...suggest(text.value.trim())]
  const current = Math.min(index.value, actions.length - 1)
  const run = (action: Action | undefined) => {
    if (!action) return
    keepUsed(action.title)
    onClose()
    action.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) index.value = (current + step + actions.length) % Math.max(1, actions.length)
    else if (event.key === 'Enter') run(actions[current])
    else return
    event.preventDefault()
  }
  const words = partWords()
  return (
    <Modal label={words.paletteTitle} kind="palette" onClose={onClose}>
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={actions.length > 0 ? `palette-${current}` : undefined}
        aria-label={words.paletteTitle}
        placeholder={words.paletteHint}
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
          index.value = 0
        }}
        onKeyDown={onKeyDown}
      />
      <PaletteList actions={actions} current={current} onChoice={run} />
      {actions.length === 0 && (
        <p class="palette-none muted" role="status">
          {none}
        </p>
      )}
    </Modal>
  )
}

interface PaletteListProps {
  readonly actions: readonly Action[]
  readonly current: number
  readonly onChoice: (action: Action) => void
}

function PaletteList({ actions, current, onChoice }: PaletteListProps) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => list.current?.children[current]?.scrollIntoView({ block: 'nearest' }), [current])
  return (
    <ul
      class="palette-list"
      id="palette-list"
      role="listbox"
      aria-label={partWords().paletteTitle}
      ref={list}
    >
      {actions.map((action, place) => (
        <li
          key={action.title}
          id={`palette-${place}`}
          class="palette-item"
          role="option"
          aria-selected={place === current}
          onClick={() => onChoice(action)}
        >
          <span>{action.title}</span>
          {action.keys && <Keys keys={action.keys} />}
        </li>
      ))}
    </ul>
  )
}
