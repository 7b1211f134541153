import { localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { ResourceTimeline } from '../../../parts/resource/resource-timeline.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { WhoChanged } from '../audit/who-changed.tsx'
import { userLabel } from '../user-names.ts'
import { TicketComments } from './comments.tsx'
import { fieldLabel, valueLabel } from './labels.ts'
import { LEVEL_TONES, type TicketChange, type TicketDetails } from './model.ts'
import { ticketHistory, ticketResource } from './source.ts'
import { TicketActions } from './ticket-actions.tsx'
import { ticketWords } from './words.ts'

export interface TicketDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** One ticket with its comments and its history. */
export function TicketDrawer({ id, onClose }: TicketDrawerProps) {
  const { history } = ticketWords()
  const model = useResource(ticketResource, id)
  return (
    <ResourceDrawer id={id} model={model} titleOf={({ title }) => title} onClose={onClose}>
      {(ticket) => (
        <>
          <TicketActions ticket={ticket} model={model} />
          <TicketFacts ticket={ticket} />
          <TicketComments key={ticket.id} ticket={ticket} model={model} />
          <ResourceTimeline
            title={history}
            source={ticketHistory}
            id={id}
            isShown={({ changes }) => changeLines(changes).length > 0}
            entryOf={historyEntry}
          />
          <WhoChanged kind="ticket" id={id} version={ticket.updated_at} />
        </>
      )}
    </ResourceDrawer>
  )
}

const TIMES = ['created_at', 'updated_at', 'resolved_at', 'closed_at'] as const

function TicketFacts({ ticket }: { readonly ticket: TicketDetails }) {
  const { fields, levels } = ticketWords()
  const { level, source, assignee, description } = ticket
  return (
    <FactList
      facts={[
        [fields.level, <StatusBadge tone={LEVEL_TONES[level]} label={levels[level]} />],
        [fields.source, source],
        [fields.assignee, valueLabel('assignee', assignee)],
        [fields.created_by, userLabel(ticket.created_by)],
        ...TIMES.map((name) => [fields[name], ticket[name] && localTime(ticket[name])] as const),
        [fields.description, description],
      ]}
    />
  )
}

function historyEntry({ at, actor, changes }: TicketChange, index: number) {
  return {
    key: `${at} ${index}`,
    at,
    tone: 'active' as const,
    title: <bdi>{changeLines(changes).join(', ')}</bdi>,
    note: <bdi>{ticketWords().by(userLabel(actor))}</bdi>,
  }
}

type Changes = Readonly<Record<string, readonly (string | null)[]>>

/**
 * A new ticket has no earlier status: its first entry lists no changes, for the drawer shows the values, as it does those of
 * the comments.
 */
function changeLines(changes: Changes): string[] {
  const { change, firstEntry } = ticketWords()
  if (changes['status']?.[0] === null) return [firstEntry]
  return Object.entries(changes)
    .filter(([field]) => field !== 'comment')
    .map(([field, [from = null, to = null]]) =>
      change(fieldLabel(field), valueLabel(field, from), valueLabel(field, to)),
    )
}
