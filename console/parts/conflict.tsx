import { Button } from './button.tsx'
import { Modal } from './modal.tsx'
import { partWords } from './part-words.ts'

/** One field in which the versions differ. */
export interface ConflictField {
  readonly name: string
  readonly yours: string
  readonly theirs: string
}

/** Whether the other change was the same: then there is nothing to decide. */
export function isSame(fields: readonly ConflictField[]): boolean {
  return fields.every(({ yours, theirs }) => yours === theirs)
}

export interface ConflictProps {
  readonly fields: readonly ConflictField[]
  readonly onKeep: () => void
  /** Left out if the current version does not allow the change. */
  readonly onApply?: (() => void) | undefined
  /** Called when the user decides nothing. */
  readonly onClose: () => void
}

/** Shows both versions after a change was refused because the object had changed (412). */
export function Conflict({ fields, onKeep, onApply, onClose }: ConflictProps) {
  const words = partWords()
  return (
    <Modal label={words.conflictTitle} role="alertdialog" onClose={onClose}>
      <h2 class="modal-title">{words.conflictTitle}</h2>
      <p>{onApply ? words.conflictText : words.tooLate}</p>
      <table class="conflict">
        <thead>
          <tr>
            <th scope="col">{words.field}</th>
            <th scope="col">{words.yours}</th>
            <th scope="col">{words.theirs}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ name, yours, theirs }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <bdi>{yours}</bdi>
              </td>
              <td>
                <bdi>{theirs}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="actions actions-end">
        <Button onClick={onKeep}>{words.keepTheirs}</Button>
        {onApply && (
          <Button kind="main" onClick={onApply}>
            {words.applyMine}
          </Button>
        )}
      </div>
    </Modal>
  )
}
