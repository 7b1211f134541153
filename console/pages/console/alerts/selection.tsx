import { useSignal, type Signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { ApiFailure } from '../../../api/operations.ts'
import { isolated } from '../../../i18n/isolated.ts'
import { localNumber } from '../../../i18n/local.ts'
import { confirmAction } from '../../../parts/confirm.tsx'
import { describeFailure } from '../../../parts/failure-words.ts'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import { useListRefresh } from '../../../parts/list/list-refresh.ts'
import { sendEach } from '../../../parts/send-each.ts'
import { showToast } from '../../../parts/toast.tsx'
import { call, session } from '../platform.ts'
import type { Alert } from './model.ts'
import { alertWords } from './words.ts'

/** The ids of the chosen alerts. */
export type AlertSelection = Signal<ReadonlySet<string>>

/** Whether the user may change several alerts at once. */
export function maySelect(): boolean {
  return session.may('acknowledgeAlert') || session.may('recoverAlert')
}

/** A column with a box for each alert, where the list is wide. */
export function selectionColumn(selection: AlertSelection): TableColumn<Alert> {
  const { select, selectAlert } = alertWords()
  const toggle = (id: string) => {
    selection.value = selection.peek().symmetricDifference(new Set([id]))
  }
  return {
    key: 'select',
    title: select,
    isWideOnly: true,
    cell: ({ id, title }) => (
      <input
        class="row-box"
        type="checkbox"
        aria-label={selectAlert(isolated(title))}
        checked={selection.value.has(id)}
        onChange={() => toggle(id)}
      />
    ),
  }
}

type Bulk = 'acknowledge' | 'recover'

const MAY_BE: Readonly<Record<Bulk, (alert: Alert) => boolean>> = {
  acknowledge: ({ status }) => status === 'firing',
  recover: ({ status }) => status !== 'recovered',
}
const SENDS = {
  acknowledge: ({ id }: Alert) => call('acknowledgeAlert', { path: { id }, body: {} }),
  recover: ({ id }: Alert) => call('recoverAlert', { path: { id } }),
}

// More titles make no short message.
const MOST_NAMED = 3

/** Which alerts stayed as they were, and why. */
function refusedText(refused: readonly Alert[], failure: ApiFailure): string {
  const { notDone, andMore } = alertWords()
  const named = refused.slice(0, MOST_NAMED).map(({ title }) => isolated(title))
  const others = refused.length - named.length
  const names = [...named, ...(others > 0 ? [andMore(localNumber(others))] : [])].join(', ')
  return notDone(names, describeFailure(failure))
}

export interface SelectionBarProps {
  readonly selection: AlertSelection
  /** The alerts on the page: only these can be changed. */
  readonly alerts: readonly Alert[]
}

/** What can be done with the chosen alerts together. It has its place also while none is chosen, so that no row moves. */
export function SelectionBar({ selection, alerts }: SelectionBarProps) {
  const words = alertWords()
  const refreshList = useListRefresh()
  const sent = useSignal<string | null>(null)
  const bar = useRef<HTMLDivElement>(null)
  const chosen = alerts.filter(({ id }) => selection.value.has(id))
  const run = async (bulk: Bulk) => {
    if (sent.peek() !== null) return
    const targets = chosen.filter(MAY_BE[bulk])
    const { question, text, action, done } = words.bulk[bulk]
    const count = localNumber(targets.length)
    if (targets.length === 0) return showToast('warning', words.bulk[bulk].none)
    if (!(await confirmAction({ title: question(count), text, action }))) return
    const progress = (index: number) => (sent.value = words.sentOf(localNumber(index), count))
    progress(0)
    const outcome = await sendEach(targets, SENDS[bulk], progress)
    sent.value = null
    selection.value = new Set(outcome.refused.map(({ id }) => id))
    refreshList()
    const doneText = done(localNumber(outcome.done))
    const { refused, failure } = outcome
    if (failure) showToast('warning', `${doneText} ${refusedText(refused, failure)}`)
    else showToast('good', doneText)
    // The button that had the focus goes away with the last chosen alert.
    requestAnimationFrame(() => document.activeElement === document.body && bar.current?.focus())
  }
  return (
    <div
      class="selection-bar"
      role="group"
      aria-label={words.selected(localNumber(chosen.length))}
      tabIndex={-1}
      ref={bar}
    >
      <span role="status">{sent.value ?? words.selected(localNumber(chosen.length))}</span>
      {chosen.length > 0 && session.may('acknowledgeAlert') && (
        <button class="button" type="button" onClick={() => void run('acknowledge')}>
          {words.acknowledge}
        </button>
      )}
      {chosen.length > 0 && session.may('recoverAlert') && (
        <button class="button" type="button" onClick={() => void run('recover')}>
          {words.recover}
        </button>
      )}
      <button
        class="button button-quiet"
        type="button"
        onClick={() => (selection.value = new Set(alerts.map(({ id }) => id)))}
      >
        {words.selectAll}
      </button>
      {chosen.length > 0 && (
        <button class="button button-quiet" type="button" onClick={() => (selection.value = new Set())}>
          {words.selectNone}
        </button>
      )}
    </div>
  )
}
