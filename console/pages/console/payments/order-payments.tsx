import { useSignal } from '@preact/signals'
import { encode } from 'uqr'
import type { AnswerOf } from '../../../api/operations.ts'
import { localAmount, localTime } from '../../../i18n/local.ts'
import { Button } from '../../../parts/button.tsx'
import { CommandLine } from '../../../parts/command-line.tsx'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { Modal } from '../../../parts/modal.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import type { Order } from '../orders/model.ts'
import { call, session } from '../platform.ts'
import { pathOf } from '../view.ts'
import { channelNames, orderPayments, paymentBadge, type Payment } from './model.ts'
import { paymentWords } from './words.ts'

type NewPayment = AnswerOf<'createPayment'>
type Action = NonNullable<NewPayment['action']>

/** The payments of an order, and how another one is taken; nothing where there are neither channels nor payments. */
export function OrderPayments({ order }: { readonly order: Order }) {
  const words = paymentWords()
  const { order_id, status } = order
  const payments = useResource(orderPayments, order_id)
  const channels = useResource(channelNames, '').value.value?.channels ?? []
  const isTaking = useSignal(false)
  const mayTake = status === 'pending' && channels.length > 0 && session.may('createPayment')
  const hasPayments = (payments.value.value?.items.length ?? 0) > 0
  if (!mayTake && !hasPayments) return null
  return (
    <Section title={words.title}>
      <ObjectActions
        hasNoKeys
        actions={[mayTake && { title: words.take, run: () => void (isTaking.value = true) }]}
      >
        {isTaking.value && (
          <TakePayment
            order={order}
            channels={channels}
            onClose={() => {
              isTaking.value = false
              void payments.refresh()
            }}
          />
        )}
      </ObjectActions>
      <ResourceView model={payments}>
        {({ items }) => (
          <Timeline label={words.title} entries={items.map(paymentEntry)} empty={words.noPayments} />
        )}
      </ResourceView>
    </Section>
  )
}

function paymentEntry(payment: Payment) {
  const { id, created_at, amount_cents, refunded_cents, channel } = payment
  const { tone, label } = paymentBadge(payment)
  const back = refunded_cents > 0 ? ` (${localAmount(refunded_cents)})` : ''
  return {
    key: id,
    at: created_at,
    tone,
    title: <a href={pathOf('payments', id)}>{`${localAmount(amount_cents)} · ${label}${back}`}</a>,
    note: <bdi>{channel}</bdi>,
  }
}

interface TakePaymentProps {
  readonly order: Order
  readonly channels: readonly string[]
  readonly onClose: () => void
}

function TakePayment({ order: { order_id }, channels, onClose }: TakePaymentProps) {
  const words = paymentWords()
  const taken = useSignal<NewPayment | null>(null)
  if (taken.value) return <ShownPayment payment={taken.value} onClose={onClose} />
  const schema = {
    required: ['channel'],
    properties: { channel: { type: 'string', enum: channels } },
  }
  return (
    <CreateDialog
      title={words.take}
      schema={schema}
      labels={{ channel: words.fields.channel }}
      initial={channels.length === 1 ? { channel: channels[0] ?? '' } : {}}
      action={words.take}
      create={(body) => call('createPayment', { path: { order_id }, body: body as { channel: string } })}
      doneOf={() => words.taken}
      onCreated={(payment) => (taken.value = payment)}
      onClose={onClose}
    />
  )
}

/** How the customer pays: a QR code, or an address. */
function ShownPayment({ payment, onClose }: { readonly payment: NewPayment; readonly onClose: () => void }) {
  const words = paymentWords()
  const { action } = payment
  return (
    <Modal label={words.payHere} onClose={onClose}>
      <h2>{words.payHere}</h2>
      <p>{action ? words.payUntil(localTime(action.expires_at)) : words.unclear}</p>
      {action && <PayerAction action={action} />}
      <div class="actions actions-end">
        <Button kind="main" onClick={onClose}>
          {words.done}
        </Button>
      </div>
    </Modal>
  )
}

function PayerAction({ action: { type, url } }: { readonly action: Action }) {
  const words = paymentWords()
  return (
    <>
      {type === 'qr_code' && <QrCode text={url} />}
      {type === 'redirect' && (
        <p>
          <a class="button" href={url} target="_blank" rel="noreferrer">
            {words.openLink}
          </a>
        </p>
      )}
      <CommandLine label={words.address} command={url} />
    </>
  )
}

// Scanners need a bright margin of four modules.
const MARGIN = 4

function QrCode({ text }: { readonly text: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: MARGIN })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg
      class="qr-code"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={paymentWords().code}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
