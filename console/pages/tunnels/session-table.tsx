import { useSignal } from '@preact/signals'
import { localNumber, localTime, localWhen } from '../../i18n/local.ts'
import { Button } from '../../parts/button.tsx'
import { formatDuration, formatRtt } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Table, type TableHead } from '../../parts/list/table.tsx'
import { EmptyState } from '../../parts/states.tsx'
import { explainHealth } from './describe.ts'
import { sessionKey } from './graph.ts'
import type { JudgedSession } from './health.ts'
import { HealthMark } from './health-mark.tsx'
import type { TunnelsModel } from './model.ts'
import { COLUMNS, nextSorting } from './table.ts'
import { tunnelWords } from './words.ts'

const STEP = 40

/** The sessions one by one. */
export function SessionTable({ model }: { readonly model: TunnelsModel }) {
  const words = tunnelWords()
  const most = useSignal(STEP)
  const rows = model.rows.value
  const visible = rows.slice(0, most.value)
  return (
    <div class="card pane table-pane">
      <div class="table-head">
        <h2 class="pane-title">{words.sessions}</h2>
        <span class="muted" role="status">
          {countText(rows.length, model.sessions.value.length)}
        </span>
        <SelectionChip model={model} />
      </div>
      <Table
        label={words.sessions}
        heads={headsOf(model)}
        footer={
          <>
            {rows.length === 0 && <NothingFound model={model} />}
            {rows.length > visible.length && (
              <button class="button table-more" type="button" onClick={() => (most.value += STEP)}>
                {words.showMore(localNumber(Math.min(STEP, rows.length - visible.length)))}
              </button>
            )}
          </>
        }
      >
        {visible.map((session) => (
          <Row key={sessionKey(session)} session={session} model={model} />
        ))}
      </Table>
    </div>
  )
}

function countText(rows: number, all: number): string {
  const { someSessions, partOf } = tunnelWords()
  return rows === all ? someSessions(all) : partOf(localNumber(rows), someSessions(all))
}

/** Says that the table is narrowed to a node of the picture, and takes that back. */
function SelectionChip({ model }: { readonly model: TunnelsModel }) {
  const selection = model.selection.value
  if (!selection) return null
  return (
    <button
      class="button selection-chip"
      type="button"
      aria-label={tunnelWords().deselect(selection.label)}
      onClick={() => (model.selected.value = null)}
    >
      <span class="selection-name">{selection.label}</span>
      <Icon name="close" />
    </button>
  )
}

function headsOf({ sorting }: TunnelsModel): TableHead[] {
  const words = tunnelWords()
  const titles = { ...words, rtt: words.roundTrip }
  const { column: sorted, descending } = sorting.value
  const direction = descending ? 'descending' : 'ascending'
  return COLUMNS.map((column) => ({
    key: column,
    title: titles[column],
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
  const words = tunnelWords()
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
        <span class="cell-note">{session.device ?? words.noDevice}</span>
      </th>
      <td class="column-address">
        <button
          class="link mono cell-main"
          type="button"
          aria-pressed={model.selected.value === key}
          title={words.showInPicture}
          onClick={() => (model.selected.value = model.selected.value === key ? null : key)}
          onFocus={() => (model.pointed.value = key)}
          onBlur={() => (model.pointed.value = null)}
        >
          {session.virtualIp}
        </button>
        <span class="cell-note">
          <span class="narrow-only">{session.gateway}</span>
          <span class="wide-only" title={words.connectedFrom}>
            <span class="visually-hidden">{words.connectedFrom} </span>
            {session.remoteAddress || words.unknown}
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
      <td class="column-connected" title={words.connectedAt(localTime(session.connectedAt))}>
        <span class="cell-main">{formatDuration(at - session.connectedAt)}</span>
        <span class="cell-note">{localWhen(session.connectedAt, at)}</span>
      </td>
    </tr>
  )
}

function NothingFound({ model }: { readonly model: TunnelsModel }) {
  const { noMatch, showAll } = tunnelWords()
  return (
    <EmptyState icon="search" title={noMatch}>
      <Button
        onClick={() => {
          model.words.value = ''
          model.healths.value = new Set()
          model.selected.value = null
        }}
      >
        {showAll}
      </Button>
    </EmptyState>
  )
}
