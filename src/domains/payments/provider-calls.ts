import { errorMessage } from '../../kernel/errors.ts'
import {
  ChannelError,
  type OpenedPayment,
  type PaymentChannel,
  type ProviderPayment,
} from '../../ports/payments.ts'
import type { PaymentDeps } from './deps.ts'
import { isActionDead, isUnfinished, referenceOf, REPEAT_FOR_MS } from './model.ts'
import type { PaymentRow } from './store.ts'

/** The outcome of a call to a provider. */
export type CallOutcome =
  | { readonly type: 'opened'; readonly opened: OpenedPayment }
  | { readonly type: 'state'; readonly state: ProviderPayment; readonly isClose: boolean }
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'unclear' }

/** Makes the next call for a payment, outside of any transaction; never rejects for what the provider does. */
export async function askProvider(
  { channels, clock, logger }: PaymentDeps,
  payment: PaymentRow,
): Promise<CallOutcome> {
  const channel = channels.get(payment.channel)
  if (!channel) return { type: 'unclear' }
  const now = clock.now()
  if (payment.status === 'creating' && now >= payment.createdAt + REPEAT_FOR_MS)
    return { type: 'refused', reason: 'unclear' }
  try {
    return await makeCall(channel, payment, now)
  } catch (error) {
    if (!(error instanceof ChannelError)) throw error
    const { outcome, code } = error
    logger.warn(
      { payment_id: payment.id, channel: channel.name, code, error },
      'a provider has not done what it was asked',
    )
    if (outcome === 'unclear' || payment.status !== 'creating') return { type: 'unclear' }
    return { type: 'refused', reason: payment.isClosing ? 'order_ended' : (code ?? errorMessage(error)) }
  }
}

/** The actor of what an outcome changes: the channel for what the provider says, else the worker. */
export function actorOfOutcome({ channel }: Pick<PaymentRow, 'channel'>, outcome: CallOutcome): string {
  return outcome.type === 'state' ? `payment:${channel}` : 'worker'
}

async function makeCall(channel: PaymentChannel, payment: PaymentRow, now: number): Promise<CallOutcome> {
  const reference = referenceOf(payment)
  const isCreating = payment.status === 'creating'
  // A payment that is to be closed is created again, too, if only its creation tells how the provider names it.
  if (isCreating && !(payment.isClosing && channel.isKnownByNumber)) return createAtProvider(channel, payment)
  const isClose = isUnfinished(payment) && (payment.isClosing || isActionDead(payment, now))
  const state = await (isClose ? channel.close(reference) : channel.query(reference))
  return { type: 'state', state, isClose }
}

/** A repeated call is refused, too, when an earlier one whose answer was lost has made the payment, and it is paid. */
async function createAtProvider(channel: PaymentChannel, payment: PaymentRow): Promise<CallOutcome> {
  try {
    return { type: 'opened', opened: await channel.create(payment.number, payment.parameters) }
  } catch (error) {
    if (!isRefusal(error) || !channel.isKnownByNumber) throw error
    const state = await channel.query(referenceOf(payment)).catch((other: unknown) => {
      throw isRefusal(other) ? error : other
    })
    if (state.status === 'paid') return { type: 'state', state, isClose: false }
    throw error
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ChannelError && error.outcome === 'refused'
}
