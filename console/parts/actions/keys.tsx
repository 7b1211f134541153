import { Button } from '../button.tsx'
import { Modal } from '../modal.tsx'
import { partWords } from '../part-words.ts'
import { availableActions } from './actions.ts'

/** Keys as they are printed on a keyboard. */
export function Keys({ keys }: { readonly keys: string }) {
  return (
    <span class="keys">
      {keys.split(/[ -](?=.)/).map((key, index) => (
        <kbd key={index}>{key.length === 1 && keys.startsWith('Ctrl') ? key.toUpperCase() : key}</kbd>
      ))}
    </span>
  )
}

type KeyGroup = 'page' | 'everywhere' | 'pages' | 'newItems'

const GROUPS: readonly KeyGroup[] = ['page', 'everywhere', 'pages', 'newItems']
const EVERYWHERE = ['Enter', 'Ctrl-Enter', 'Escape', 'Ctrl-k', '?']

function groupOf(keys: string): KeyGroup {
  if (EVERYWHERE.includes(keys)) return 'everywhere'
  if (keys.startsWith('g ')) return 'pages'
  return keys.startsWith('n ') ? 'newItems' : 'page'
}

/** The titles of everything that can be done now, by the keys. */
function titlesByKeys(): ReadonlyMap<string, string> {
  const words = partWords()
  const always = { Enter: words.enterKey, 'Ctrl-Enter': words.sendKey, Escape: words.escapeKey }
  const titles = new Map(Object.entries<string>(always))
  // The first action that has the keys gets them.
  for (const { keys, title } of availableActions())
    if (keys !== undefined && !titles.has(keys)) titles.set(keys, title)
  return titles
}

/** The keys of everything that can be done now. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const words = partWords()
  const titlesByGroup = Map.groupBy(titlesByKeys(), ([keys]) => groupOf(keys))
  return (
    <Modal label={words.keysTitle} onClose={onClose}>
      {/* The button at the end would scroll to the end. */}
      <h2 class="modal-title" tabIndex={-1} autofocus>
        {words.keysTitle}
      </h2>
      <div class="key-groups">
        {GROUPS.map(
          (group) =>
            titlesByGroup.has(group) && (
              <KeyList key={group} title={words.keyGroups[group]} titles={titlesByGroup.get(group) ?? []} />
            ),
        )}
      </div>
      <div class="actions actions-end">
        <Button onClick={onClose}>{words.close}</Button>
      </div>
    </Modal>
  )
}

interface KeyListProps {
  readonly title: string
  readonly titles: readonly (readonly [keys: string, title: string])[]
}

function KeyList({ title, titles }: KeyListProps) {
  return (
    <section>
      <h3 class="key-title">{title}</h3>
      <dl class="key-list">
        {titles.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <Keys keys={keys} />
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
