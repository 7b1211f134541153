import { ListView } from '../../../parts/list/list-view.tsx'
import { useList } from '../../../parts/list/use-list.ts'
import { useSelectedItem } from '../../../parts/list/use-selected-item.ts'
import { PageHead } from '../../../parts/page-head.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { heartbeatColumns } from './columns.tsx'
import { HeartbeatDrawer } from './drawer.tsx'
import { heartbeatList } from './model.ts'
import { heartbeatWords } from './words.ts'

const PATH = pathOf({ name: 'heartbeats' })

/** The heartbeats: the list, and beside it the heartbeat that the address names. */
export function HeartbeatsPage({ id }: ViewProps) {
  const words = heartbeatWords()
  const list = useList(heartbeatList)
  const { hrefOf, close } = useSelectedItem(PATH, list.query)
  const selected = list.model.page.value?.items.find(({ name }) => name === id)
  return (
    <>
      <PageHead title={words.title} />
      <ListView
        path={PATH}
        source={heartbeatList}
        list={list}
        words={words}
        labelOf={(_, value) => value}
        columns={heartbeatColumns(words)}
        icon="heart"
        hrefOf={({ name }) => hrefOf(name)}
        selected={id}
        detail={
          selected && (
            <HeartbeatDrawer
              heartbeat={selected}
              onClose={close}
              onChange={() => void list.model.refresh()}
            />
          )
        }
      />
    </>
  )
}
