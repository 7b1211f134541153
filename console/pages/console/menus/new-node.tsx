import type { ApiFailure } from '../../../api/operations.ts'
import { isolated } from '../../../i18n/isolated.ts'
import { FormDialog } from '../../../parts/form/form-dialog.tsx'
import { invalidFields } from '../../../parts/form/invalid-fields.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { withNode } from './draft.ts'
import { NODE_SCHEMA } from './node-drawer.tsx'
import type { MenuDraft } from './use-menu-draft.ts'
import { menuWords } from './words.ts'

export interface NewNodeProps extends NewItemDialog {
  readonly draft: MenuDraft
  /** Null for the top. */
  readonly parentId: string | null
}

/** Asks for a new menu below the one that is shown, and adds it to the draft. */
export function NewNode({ draft, parentId, onClose, onCreated }: NewNodeProps) {
  const words = menuWords()
  const { id, title, path, icon } = words.fields
  const parent = draft.nodes.find((node) => node.id === parentId)
  const send = async (body: object): Promise<ApiFailure | null> => {
    const node = { id: '', title: '', parent_id: parentId, path: null, icon: null, enabled: true, ...body }
    // The API would take it as a change of that menu.
    if (draft.nodes.some((known) => known.id === node.id))
      return invalidFields([{ path: 'id', message: words.takenId }])
    const nodes = withNode(draft.nodes, node)
    const failure = await draft.apply(nodes)
    if (!failure) onCreated(node.id)
    return failure
  }
  return (
    <FormDialog
      title={parent ? words.newNodeBelow(isolated(parent.title)) : words.newNodeAtTop}
      schema={{ ...NODE_SCHEMA, required: ['id', 'title'] }}
      labels={{ id, title, path, icon }}
      hints={words.hints}
      action={words.add}
      send={send}
      onClose={onClose}
    />
  )
}
