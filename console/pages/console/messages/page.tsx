import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { BusNotice } from '../bus-notice.tsx'
import { pathOf, type ViewProps } from '../view.ts'
import { messageColumns } from './columns.tsx'
import { MessageDrawer } from './drawer.tsx'
import type { Message } from './model.ts'
import { messageList } from './source.ts'
import { messageWords } from './words.ts'

const PATH = pathOf({ name: 'messages' })

/** The messages to the bus: the list, and beside it the message that the address names. */
export function MessagesPage({ id }: ViewProps) {
  const words = messageWords()
  return (
    <ObjectsPage
      path={PATH}
      source={messageList}
      words={words}
      labelOf={(_, value) => words.statuses[value as Message['status']]}
      columns={messageColumns(words)}
      icon="messages"
      summary={<BusNotice />}
      id={id}
      detail={({ id: shown, onClose }) => <MessageDrawer key={shown} id={shown} onClose={onClose} />}
    />
  )
}
