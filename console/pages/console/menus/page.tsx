import { Drawer } from '../../../parts/drawer.tsx'
import { ListAndDetail } from '../../../parts/list-and-detail.tsx'
import { useNewItem } from '../../../parts/list/new-item.tsx'
import { PageHead } from '../../../parts/page-head.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { EmptyState } from '../../../parts/states.tsx'
import { session } from '../platform.ts'
import type { ViewProps } from '../view.ts'
import { DraftBar } from './draft-bar.tsx'
import { NewNode } from './new-node.tsx'
import { NodeDrawer } from './node-drawer.tsx'
import { menuTree } from './source.ts'
import { TreeView } from './tree-view.tsx'
import { useMenuDraft } from './use-menu-draft.ts'
import { useOpenMenu } from './use-open-menu.ts'
import { menuWords } from './words.ts'

/** The menus of the shop as a tree, which is changed as a draft and then saved. */
export function MenusPage({ id }: ViewProps) {
  const words = menuWords()
  const tree = useResource(menuTree, '')
  const draft = useMenuDraft(tree)
  const mayEdit = session.may('editMenus')
  const { open, close, leavesFocus } = useOpenMenu()
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
        {() => (
          <>
            {mayEdit && <DraftBar draft={draft} />}
            <ListAndDetail
              detail={
                selected ? (
                  <NodeDrawer
                    node={selected}
                    draft={draft}
                    mayEdit={mayEdit}
                    onClose={close}
                    leavesFocus={leavesFocus}
                  />
                ) : (
                  id !== undefined && (
                    <Drawer title={id} onClose={close}>
                      <EmptyState icon="menus" title={words.notListed} />
                    </Drawer>
                  )
                )
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
