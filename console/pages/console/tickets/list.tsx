import { useActions } from '../../../parts/actions/actions.ts'
import { focusTextFilter } from '../../../parts/list/filter-bar.tsx'
import { ListView } from '../../../parts/list/list-view.tsx'
import { ticketColumns } from './columns.tsx'
import { TicketDrawer } from './drawer.tsx'
import { assigneeLabel, valueLabel } from './labels.ts'
import { ticketList } from './source.ts'
import { ticketWords } from './words.ts'

export interface TicketListProps {
  readonly path: string
  readonly id?: string | undefined
}

/** The tickets, newest first. */
export function TicketList({ path, id }: TicketListProps) {
  const words = ticketWords()
  useActions(() => [{ title: words.find, keys: '/', run: focusTextFilter }])
  return (
    <ListView
      path={path}
      source={ticketList}
      words={words}
      labelOf={(name, value) => (name === 'assignee' ? assigneeLabel(value) : valueLabel(name, value))}
      columns={ticketColumns(words)}
      icon="tickets"
      id={id}
      detail={(detail) => <TicketDrawer key={detail.id} id={detail.id} onClose={detail.onClose} />}
    />
  )
}
