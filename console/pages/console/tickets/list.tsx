import { ListView } from '../../../parts/list/list-view.tsx'
import { useList } from '../../../parts/list/use-list.ts'
import { useSelectedItem } from '../../../parts/list/use-selected-item.ts'
import { ticketColumns } from './columns.tsx'
import { TicketDrawer } from './drawer.tsx'
import type { Ticket, TicketStatus } from './model.ts'
import { ticketList } from './source.ts'
import { ticketWords } from './words.ts'

export interface TicketListProps {
  readonly path: string
  readonly id?: string | undefined
}

/** The tickets, newest first. */
export function TicketList({ path, id }: TicketListProps) {
  const words = ticketWords()
  const list = useList(ticketList)
  const { hrefOf, close } = useSelectedItem(path, list.query)
  return (
    <ListView
      path={path}
      source={ticketList}
      list={list}
      words={words}
      labelOf={(name, value) =>
        name === 'status' ? words.statuses[value as TicketStatus] : words.levels[value as Ticket['level']]
      }
      columns={ticketColumns(words)}
      icon="tickets"
      hrefOf={(ticket) => hrefOf(ticket.id)}
      selected={id}
      detail={id !== undefined && <TicketDrawer key={id} id={id} onClose={close} />}
    />
  )
}
