import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { session } from '../platform.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { heartbeatColumns } from './columns.tsx'
import { HeartbeatDrawer } from './drawer.tsx'
import { NewHeartbeat } from './heartbeat-form.tsx'
import { heartbeatList } from './model.ts'
import { heartbeatWords } from './words.ts'

const PATH = pathOf({ name: 'heartbeats' })

/** The heartbeats: the list, and beside it the heartbeat that the address names. */
export function HeartbeatsPage({ id }: ViewProps) {
  const words = heartbeatWords()
  return (
    <ObjectsPage
      path={PATH}
      source={heartbeatList}
      words={words}
      columns={heartbeatColumns(words)}
      icon="heart"
      id={id}
      newItem={
        session.may('putHeartbeat') && {
          title: words.newHeartbeat,
          dialog: (dialog) => <NewHeartbeat {...dialog} />,
        }
      }
      detail={({ item, onClose }) => item && <HeartbeatDrawer heartbeat={item} onClose={onClose} />}
    />
  )
}
