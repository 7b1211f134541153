import type { AnswerOf, ApiResult } from '../../../api/operations.ts'
import { localTime } from '../../../i18n/local.ts'
import { PageHead } from '../../../parts/page-head.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource, type ResourceSource } from '../../../parts/resource/use-resource.ts'
import { StatusBadge, type StatusBadgeProps } from '../../../parts/status-badge.tsx'
import { SEVERITY_TONES, type Alert } from '../alerts/model.ts'
import { alertWords } from '../alerts/words.ts'
import { commandTitle, EXECUTION_TONES, type Execution } from '../executions/model.ts'
import { decidableRequests } from '../executions/requests.ts'
import { executionWords } from '../executions/words.ts'
import { call, live, session } from '../platform.ts'
import { LEVEL_TONES, mostUrgentFirst, type Ticket } from '../tickets/model.ts'
import { hasUnseenComments, mentioningTickets } from '../tickets/mention-notices.ts'
import { ticketWords } from '../tickets/words.ts'
import { userLabel } from '../user-names.ts'
import { pathOf } from '../view.ts'
import { myWorkWords } from './words.ts'
import type { PageName } from '../page-words.ts'

/** What waits for the user: tickets, requests to decide on, and alerts that the user has acknowledged. */
export function MyWorkPage() {
  const words = myWorkWords()
  return (
    <>
      <PageHead title={words.title} />
      {session.may('listTickets') && (
        <WorkSection title={words.tickets} empty={words.noTickets} source={myTickets} rowOf={ticketRow} />
      )}
      {session.may('listTickets') && (
        <WorkSection
          title={words.mentions}
          empty={words.noMentions}
          source={mentioningTickets}
          rowOf={mentionRow}
        />
      )}
      {session.may('listExecutions') && (
        <WorkSection
          title={words.requests}
          empty={words.noRequests}
          source={decidableRequests}
          rowOf={requestRow}
        />
      )}
      {session.may('listAlerts') && (
        <WorkSection title={words.alerts} empty={words.noAlerts} source={myAlerts} rowOf={alertRow} />
      )}
    </>
  )
}

interface WorkRow {
  readonly page: PageName
  readonly id: string
  readonly badge: StatusBadgeProps
  readonly title: string
  readonly note: string
}

interface WorkSectionProps<Item> {
  readonly title: string
  readonly empty: string
  readonly source: ResourceSource<{ readonly items: readonly Item[] }>
  readonly rowOf: (item: Item) => WorkRow
}

function WorkSection<Item>({ title, empty, source, rowOf }: WorkSectionProps<Item>) {
  const model = useResource(source, '')
  return (
    <section class="page-section" aria-label={title}>
      <h2 class="section-title">{title}</h2>
      <ResourceView model={model}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="muted">{empty}</p>
          ) : (
            <ul class="finding-list">{items.map((item) => workItem(rowOf(item)))}</ul>
          )
        }
      </ResourceView>
    </section>
  )
}

function workItem({ page, id, badge, title, note }: WorkRow) {
  return (
    <li key={id} class="card">
      <StatusBadge {...badge} />
      <span>
        <a href={pathOf(page, id)}>
          <bdi>{title}</bdi>
        </a>
        <span class="finding-remedy">{note}</span>
      </span>
    </li>
  )
}

function ticketRow({ id, level, title, status, updated_at }: Ticket): WorkRow {
  const { levels, statuses } = ticketWords()
  const badge = { tone: LEVEL_TONES[level], label: levels[level] }
  return { page: 'tickets', id, badge, title, note: `${statuses[status]} · ${localTime(updated_at)}` }
}

function mentionRow(ticket: Ticket): WorkRow {
  const row = ticketRow(ticket)
  return hasUnseenComments(ticket) ? { ...row, note: `${myWorkWords().newComments} · ${row.note}` } : row
}

function requestRow(execution: Execution): WorkRow {
  const { id, status, requested_by, created_at } = execution
  const badge = { tone: EXECUTION_TONES[status], label: executionWords().statuses[status] }
  const note = `${myWorkWords().requestedBy(userLabel(requested_by))} · ${localTime(created_at)}`
  return { page: 'executions', id, badge, title: commandTitle(execution), note }
}

function alertRow({ id, severity, title, source, last_at }: Alert): WorkRow {
  const badge = { tone: SEVERITY_TONES[severity], label: alertWords().severities[severity] }
  return { page: 'alerts', id, badge, title, note: `${source} · ${localTime(last_at)}` }
}

const PAUSE_MS = 5_000
// More than anybody works on.
const MOST_TICKETS = 100
const MOST_ALERTS = 50

const myTickets: ResourceSource<{ readonly items: readonly Ticket[] }> = {
  live,
  prefix: 'ticket.',
  pauseMs: PAUSE_MS,
  async read(_, signal) {
    const assignee = session.bearer.peek()?.id ?? ''
    const query = { assignee, status: 'unclosed', limit: MOST_TICKETS } as const
    const tickets = await call('listTickets', { query }, signal)
    return tickets.ok ? { ...tickets, value: { items: mostUrgentFirst(tickets.value.items) } } : tickets
  },
}

/** The alerts of which the last acknowledgement is the user's: their histories name who it was. */
const myAlerts: ResourceSource<{ readonly items: readonly Alert[] }> = {
  live,
  prefix: 'alert.',
  pauseMs: PAUSE_MS,
  async read(_, signal): Promise<ApiResult<{ readonly items: readonly Alert[] }>> {
    const query = { status: 'acknowledged', sort: 'severity', limit: MOST_ALERTS } as const
    const alerts = await call('listAlerts', { query }, signal)
    if (!alerts.ok) return alerts
    const isAcknowledged = await Promise.all(
      alerts.value.items.map(async ({ id }) => {
        const history = await call(
          'getAlertHistory',
          { path: { id }, query: { limit: MOST_CHANGES } },
          signal,
        )
        return history.ok && isAcknowledgedByUser(history.value.items)
      }),
    )
    return {
      ...alerts,
      value: { items: alerts.value.items.filter((_alert, index) => isAcknowledged[index]) },
    }
  },
}

const MOST_CHANGES = 1_000

function isAcknowledgedByUser(changes: AnswerOf<'getAlertHistory'>['items']): boolean {
  return changes.findLast(({ to }) => to === 'acknowledged')?.actor === session.bearer.peek()?.id
}
