import { useLocation } from 'preact-iso/router'
import { ListAndDetail } from '../../../parts/list-and-detail.tsx'
import { useNewItem } from '../../../parts/list/new-item.tsx'
import { PageHead } from '../../../parts/page-head.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { EmptyState } from '../../../parts/states.tsx'
import { session } from '../platform.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { DraftBar } from './draft-bar.tsx'
import { MenuConflict } from './menu-conflict.tsx'
import { NewNode } from './new-node.tsx'
import { NodeDrawer } from './node-drawer.tsx'
import { menuTree } from './source.ts'
import { TreeView } from './tree-view.tsx'
import { useMenuDraft } from './use-menu-draft.ts'
import { menuWords } from './words.ts'

const PATH = pathOf({ name: 'menus' })

/** The menus of the shop as a tree, which is changed as a draft and then saved. */
export function MenusPage({ id }: ViewProps) {
  const words = menuWords()
  const { route } = useLocation()
  const tree = useResource(menuTree, '')
  const draft = useMenuDraft(tree)
  const mayEdit = session.may('editMenus')
  const open = (shown: string) => route(`${PATH}/${encodeURIComponent(shown)}`)
  const close = () => {
    route(PATH)
    document.querySelector<HTMLElement>('[role="treeitem"][aria-selected="true"]')?.focus()
  }
  const selected = draft.nodes.find((node) => node.id === id)
  const { button, dialog } = useNewItem(
    mayEdit && {
      title: words.newNode,
      dialog: (handlers) => <NewNode {...handlers} draft={draft} parentId={selected?.id ?? null} />,
    },
    open,
  )
  return (
    <>
      <PageHead title={words.title}>{button}</PageHead>
      <ResourceView model={tree}>
        {({ items }) => (
          <>
            <DraftBar draft={draft} current={items} />
            <MenuConflict draft={draft} current={items} />
            <ListAndDetail
              detail={
                selected && <NodeDrawer node={selected} draft={draft} mayEdit={mayEdit} onClose={close} />
              }
            >
              {mayEdit && <p class="muted">{words.help}</p>}
              {draft.nodes.length === 0 ? (
                <EmptyState icon="menus" title={words.empty} />
              ) : (
                <TreeView
                  nodes={draft.nodes}
                  selected={id}
                  open={open}
                  change={mayEdit ? draft.change : undefined}
                />
              )}
            </ListAndDetail>
          </>
        )}
      </ResourceView>
      {dialog}
    </>
  )
}
