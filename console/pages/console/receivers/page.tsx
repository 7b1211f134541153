import { useSignal } from '@preact/signals'
import type { AnswerOf } from '../../../api/operations.ts'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { localNumber } from '../../../i18n/local.ts'
import { Button } from '../../../parts/button.tsx'
import { LinkedText } from '../../../parts/linked-text.tsx'
import { Table } from '../../../parts/list/table.tsx'
import { PageHead } from '../../../parts/page-head.tsx'
import { RelativeTime } from '../../../parts/relative-time.tsx'
import { reportFailure } from '../../../parts/report-failure.ts'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { HowToBegin } from '../../../parts/how-to-begin.tsx'
import { EmptyState } from '../../../parts/states.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { showToast } from '../../../parts/toast.tsx'
import { call, session } from '../platform.ts'
import { resourceOf } from '../sources.ts'
import { AlertRoutes } from './routes.tsx'
import { receiverWords } from './words.ts'

type Receiver = AnswerOf<'listReceivers'>['items'][number]

const PAUSE_MS = 2_000
const TONES = { ok: 'good', failing: 'danger', unused: 'quiet' } as const

/** The receivers of alerts: what waits for them changes with each alert. */
const receiverList = resourceOf('listReceivers', 'alert.', () => ({}), {
  pauseMs: PAUSE_MS,
})

/** Who gets messages about alerts, and whether that works. */
export function ReceiversPage() {
  const words = receiverWords()
  const receivers = useResource(receiverList, '')
  return (
    <>
      <PageHead title={words.title} />
      <p class="muted">{words.about}</p>
      <ResourceView model={receivers}>
        {({ items }) => <ReceiverTable receivers={items} onTested={() => void receivers.refresh()} />}
      </ResourceView>
      <AlertRoutes />
    </>
  )
}

interface ReceiverTableProps {
  readonly receivers: readonly Receiver[]
  readonly onTested: () => void
}

function ReceiverTable({ receivers, onTested }: ReceiverTableProps) {
  const { empty, how, fields, list, test } = receiverWords()
  const mayTest = session.may('testReceiver')
  if (receivers.length === 0) {
    return (
      <EmptyState icon="receivers" title={empty}>
        <HowToBegin {...how} />
      </EmptyState>
    )
  }
  const heads = [
    { key: 'name', title: fields.name },
    { key: 'kind', title: fields.kind, className: 'medium-column' },
    { key: 'state', title: fields.state },
    { key: 'pending', title: fields.pending, className: 'numeric wide-column' },
    { key: 'last_success_at', title: fields.last_success_at, className: 'wide-column' },
    { key: 'last_error', title: fields.last_error, className: 'wide-column' },
    ...(mayTest ? [{ key: 'test', title: test }] : []),
  ]
  return (
    <div class="list-pane">
      <Table label={list} heads={heads}>
        {receivers.map((receiver) => (
          <ReceiverRow key={receiver.name} receiver={receiver} mayTest={mayTest} onTested={onTested} />
        ))}
      </Table>
    </div>
  )
}

interface ReceiverRowProps extends Pick<ReceiverTableProps, 'onTested'> {
  readonly receiver: Receiver
  readonly mayTest: boolean
}

function ReceiverRow({ receiver, mayTest, onTested }: ReceiverRowProps) {
  const { states } = receiverWords()
  const { name, kind, state, pending, last_success_at, last_error } = receiver
  // A receiver that was never used may not work, although its state is `ok`.
  const badgeState = state === 'ok' && last_success_at === null ? 'unused' : state
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
        {last_error !== null && (
          <div class="narrow-line">
            <LinkedText text={last_error} />
          </div>
        )}
      </th>
      <td class="medium-column">{kind}</td>
      <td>
        <StatusBadge tone={TONES[badgeState]} label={states[badgeState]} />
      </td>
      <td class="numeric wide-column">{localNumber(pending)}</td>
      <td class="wide-column">{last_success_at === null ? '–' : <RelativeTime time={last_success_at} />}</td>
      <td class="wide-column">
        <LinkedText text={last_error ?? '–'} />
      </td>
      {mayTest && (
        <td>
          <TestButton name={name} onTested={onTested} />
        </td>
      )}
    </tr>
  )
}

function TestButton({ name, onTested }: { readonly name: string; readonly onTested: () => void }) {
  const { delivered, notDelivered, test, testOf } = receiverWords()
  const isBusy = useSignal(false)
  const send = async () => {
    isBusy.value = true
    const result = await call('testReceiver', { path: { name } })
    isBusy.value = false
    if (!result.ok) return reportFailure(result.failure)
    const { value } = result
    if (value.delivered) showToast('good', delivered(isolateText(name)))
    else showToast('warning', notDelivered(isolateText(name), isolateText(value.answer)))
    onTested()
  }
  return (
    <Button aria-label={testOf(name)} disabled={isBusy.value} onClick={() => void send()}>
      {test}
    </Button>
  )
}
