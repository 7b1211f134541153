import { useSignal } from '@preact/signals'
import { formatDuration, formatRtt, formatSome, formatTime, formatWhen } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Table, type TableHead } from '../../parts/list/table.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { sessionKey } from './graph.ts'
import { explainHealth, type JudgedSession } from './health.ts'
import { HealthMark } from './health-mark.tsx'
import type { TunnelsModel } from './model.ts'
import { COLUMNS, nextSorting, type ColumnName } from './table.ts'

const TITLES: Readonly<Record<ColumnName, string>> = {
  user: 'User',
  address: 'Address',
  gateway: 'Gateway',
  rtt: 'Round trip',
  connected: 'Connected',
}

const STEP = 40

/** The sessions one by one. */
export function SessionTable({ model }: { readonly model: TunnelsModel }) {
  const most = useSignal(STEP)
  const rows = model.rows.value
  const shown = rows.slice(0, most.value)
  return (
    <section class="card pane table-pane" aria-labelledby="table-title">
      <div class="table-head">
        <h2 id="table-title" class="pane-title">
          Sessions
        </h2>
        <span class="muted" role="status">
          {countText(rows.length, model.sessions.value.length)}
        </span>
        <SelectionChip model={model} />
      </div>
      <Table
        label="Sessions"
        heads={headsOf(model)}
        footer={
          <>
            {rows.length === 0 && <NothingFound model={model} />}
            {rows.length > shown.length && (
              <button class="button table-more" type="button" onClick={() => (most.value += STEP)}>
                Show {Math.min(STEP, rows.length - shown.length)} more
              </button>
            )}
          </>
        }
      >
        {shown.map((session) => (
          <Row key={sessionKey(session)} session={session} model={model} />
        ))}
      </Table>
    </section>
  )
}

function countText(rows: number, all: number): string {
  return rows === all ? formatSome(all, 'session') : `${rows} of ${formatSome(all, 'session')}`
}

/** Says that the table is narrowed to a node of the picture, and takes that back. */
function SelectionChip({ model }: { readonly model: TunnelsModel }) {
  const selection = model.selection.value
  if (!selection) return null
  return (
    <button
      class="button selection-chip"
      type="button"
      aria-label={`Show all again, not only ${selection.label}`}
      onClick={() => (model.selected.value = null)}
    >
      <span class="selection-name">{selection.label}</span>
      <Icon name="close" />
    </button>
  )
}

function headsOf({ sorting }: TunnelsModel): TableHead[] {
  const { column: sorted, descending } = sorting.value
  const direction = descending ? 'descending' : 'ascending'
  return COLUMNS.map((column) => ({
    key: column,
    title: TITLES[column],
    className: `column-${column}`,
    sort: {
      direction: sorted === column ? direction : 'none',
      onSort: () => (sorting.value = nextSorting(sorting.value, column)),
    },
  }))
}

// A row is marked for so long after its session began.
const FRESH_MS = 6_000

function Row({ session, model }: { readonly session: JudgedSession; readonly model: TunnelsModel }) {
  const key = sessionKey(session)
  const at = model.state.value?.at ?? session.connectedAt
  const isPointed = model.pointed.value === key
  const classes = [isPointed && 'row-pointed', at - session.connectedAt < FRESH_MS && 'row-fresh']
  return (
    <tr
      class={classes.filter(Boolean).join(' ')}
      onPointerEnter={() => (model.pointed.value = key)}
      onPointerLeave={() => (model.pointed.value = null)}
    >
      <th scope="row" class="column-user">
        <span class="cell-main">{session.user.name}</span>
        <span class="cell-note">{session.device ?? 'no device'}</span>
      </th>
      <td class="column-address">
        <button
          class="link mono cell-main"
          type="button"
          aria-pressed={model.selected.value === key}
          title="Show in the picture"
          onClick={() => (model.selected.value = model.selected.value === key ? null : key)}
          onFocus={() => (model.pointed.value = key)}
          onBlur={() => (model.pointed.value = null)}
        >
          {session.virtualIp}
        </button>
        <span class="cell-note">
          <span class="narrow-only">{session.gateway}</span>
          <span class="wide-only" title="connected from">
            <span class="visually-hidden">from </span>
            {session.remoteAddress || 'unknown'}
          </span>
        </span>
      </td>
      <td class="column-gateway">{session.gateway}</td>
      <td class="column-rtt">
        <span class="cell-main cell-health">
          <HealthMark health={session.health} />
          {formatRtt(session.rttMs)}
        </span>
        <span class="cell-note">{explainHealth(session)}</span>
      </td>
      <td class="column-connected" title={`connected at ${formatTime(session.connectedAt)}`}>
        <span class="cell-main">{formatDuration(at - session.connectedAt)}</span>
        <span class="cell-note">{formatWhen(session.connectedAt, at)}</span>
      </td>
    </tr>
  )
}

function NothingFound({ model }: { readonly model: TunnelsModel }) {
  return (
    <EmptyState icon="search" title="No session matches what you look for.">
      <button
        class="button"
        type="button"
        onClick={() => {
          model.words.value = ''
          model.healths.value = new Set()
          model.selected.value = null
        }}
      >
        Show all
      </button>
    </EmptyState>
  )
}
