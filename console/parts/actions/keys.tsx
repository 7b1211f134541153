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

/** The keys of everything that can be done now. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const words = partWords()
  const everywhere = { Enter: words.enterKey, 'Ctrl-Enter': words.sendKey, Escape: words.escapeKey }
  const withKeys = new Map<string | undefined, string>(Object.entries(everywhere))
  // The first action that has the keys gets them.
  for (const { keys, title } of availableActions()) if (!withKeys.has(keys)) withKeys.set(keys, title)
  return (
    <Modal label={words.keysTitle} onClose={onClose}>
      {/* The button at the end would scroll to the end. */}
      <h2 class="modal-title" tabIndex={-1} autofocus>
        {words.keysTitle}
      </h2>
      <dl class="key-list">
        {[...withKeys].map(
          ([keys, title]) =>
            keys && (
              <div key={keys}>
                <dt>
                  <Keys keys={keys} />
                </dt>
                <dd>{title}</dd>
              </div>
            ),
        )}
      </dl>
      <div class="actions actions-end">
        <button class="button" type="button" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </Modal>
  )
}
