import { localTime } from '../../../i18n/local.ts'
import { Drawer } from '../../../parts/drawer.tsx'
import { FactList } from '../../../parts/facts.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { TicketComments } from './comments.tsx'
import { fieldLabel, userLabel, valueLabel } from './labels.ts'
import { LEVEL_TONES, type TicketDetails } from './model.ts'
import { ticketHistory, ticketResource } from './source.ts'
import { TicketActions } from './ticket-actions.tsx'
import { ticketWords } from './words.ts'

export interface TicketDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** One ticket with its comments and its history. */
export function TicketDrawer({ id, onClose }: TicketDrawerProps) {
  const ticket = useResource(ticketResource, id)
  return (
    <Drawer title={ticket.value.value?.title ?? id} onClose={onClose}>
      <ResourceView model={ticket}>
        {(shown) => (
          <>
            <TicketActions ticket={shown} model={ticket} />
            <TicketFacts ticket={shown} />
            <TicketComments ticket={shown} model={ticket} />
            <TicketHistory id={id} />
          </>
        )}
      </ResourceView>
    </Drawer>
  )
}

const TIMES = ['created_at', 'updated_at', 'resolved_at', 'closed_at'] as const

function TicketFacts({ ticket }: { readonly ticket: TicketDetails }) {
  const { fields, levels, nothing } = ticketWords()
  const { level, source, assignee, description } = ticket
  const times = TIMES.filter((name) => ticket[name] !== null)
  return (
    <FactList
      facts={[
        [fields.level, <StatusBadge tone={LEVEL_TONES[level]} label={levels[level]} />],
        ...(source === null ? [] : [[fields.source, source] as const]),
        [fields.assignee, assignee === null ? nothing : userLabel(assignee)],
        [fields.created_by, userLabel(ticket.created_by)],
        ...times.map((name) => [fields[name], localTime(ticket[name])] as const),
        ...(description === null ? [] : [[fields.description, description] as const]),
      ]}
    />
  )
}

function TicketHistory({ id }: { readonly id: string }) {
  const words = ticketWords()
  const history = useResource(ticketHistory, id)
  return (
    <section>
      <h3 class="section-title">{words.history}</h3>
      <ResourceView model={history}>
        {({ items }) => (
          <Timeline
            label={words.history}
            entries={items.map(({ at, actor, changes }, index) => ({
              key: `${at} ${index}`,
              at,
              tone: 'active' as const,
              title: <bdi>{changeLines(changes).join(', ')}</bdi>,
              note: <bdi>{words.by(userLabel(actor))}</bdi>,
            }))}
          />
        )}
      </ResourceView>
    </section>
  )
}

type Changes = Readonly<Record<string, readonly (string | null)[]>>

function changeLines(changes: Changes): string[] {
  const { change } = ticketWords()
  return Object.entries(changes).map(([field, [from = null, to = null]]) =>
    change(fieldLabel(field), valueLabel(field, from), valueLabel(field, to)),
  )
}
