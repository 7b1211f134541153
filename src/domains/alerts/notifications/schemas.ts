import { encoderOf } from '../../../wire/codec.ts'
import { PageOf, PageQuery } from '../../../wire/page.ts'
import {
  CauseOf,
  Fields,
  Id,
  Nullable,
  NullableTimestamp,
  OneOf,
  Text,
  Timestamp,
} from '../../../wire/schemas.ts'
import { Type } from 'typebox'
import { DAMPING_OCCASIONS, FREEZE_OCCASIONS, PLAIN_OCCASIONS } from '../occasion.ts'
import { ROUTE_REASONS, type RouteExplanation } from './explain.ts'
import { DECISION_CAUSES, OUTCOMES } from './model.ts'

const DecisionSchema = Fields(
  {
    id: Id,
    at: Timestamp,
    occasion: OneOf(
      [...PLAIN_OCCASIONS, ...FREEZE_OCCASIONS, ...DAMPING_OCCASIONS],
      'Why people may have to be notified.',
    ),
    channel: Type.String({
      description: 'The receiver of the notification; `robot` for that of `alerts.robot`.',
      examples: ['robot', 'mail'],
    }),
    outcome: OneOf(
      OUTCOMES,
      '`sent` alone or `bundled` with others, `pending`, `failed` after 24 hours, or why it was suppressed.',
    ),
    reason: Nullable<string>({
      type: 'string',
      description: 'Names the silence, the inhibiting alert, the message or the error.',
    }),
    cause: CauseOf(DECISION_CAUSES, 'what `reason` says.'),
  },
  { $id: 'AlertDecision' },
)

export const DecisionPage = PageOf(DecisionSchema)

export const encodeDecision = encoderOf(DecisionSchema)

const ReceiverName = Type.String({ description: 'The name of a receiver.', examples: ['mail'] })

const ReceiverSchema = Fields(
  {
    name: ReceiverName,
    kind: Type.String({ description: 'The kind of a receiver.', examples: ['mail'] }),
    state: OneOf(['ok', 'failing'], '`failing` since its last attempt has failed by its own fault.'),
    last_success_at: NullableTimestamp,
    last_error: Nullable<string>({
      type: 'string',
      description: 'Of the last failure, without credentials.',
    }),
    pending: Type.Integer({ minimum: 0, description: 'What waits for it, counted up to 100,000.' }),
  },
  { $id: 'Receiver' },
)

export const ReceiverQuery = Fields(PageQuery)

export const ReceiverPage = PageOf(ReceiverSchema)

export const encodeReceiver = encoderOf(ReceiverSchema)

export const ReceiverParams = Fields({ name: Text({ minLength: 1, maxLength: 32 }) })

export const ReceiverTest = Fields({
  delivered: Type.Boolean({ description: 'Whether the receiver has taken the message.' }),
  answer: Type.String({ description: 'What the other side has answered, or why it was not reached.' }),
})

export const encodeReceiverTest = encoderOf(ReceiverTest)

const RoutedReceiverSchema = Fields({
  name: ReceiverName,
  at: NullableTimestamp,
  because: OneOf(
    ROUTE_REASONS,
    '`told`; `waiting` to be sent, or for the hours of the route (`outside_hours`); to be told by `escalation` or ' +
      '`repetition`; else the outcome for which it was not told.',
  ),
})

export const AlertRouteSchema = Fields({
  matched: Type.Array(
    Type.Unsafe<string | number>({
      type: ['string', 'integer'],
      description: 'The name of a route, or its number from 1; `default` for the last one.',
    }),
  ),
  receivers: Type.Array(RoutedReceiverSchema),
})

const encodeRoutedReceiver = encoderOf(RoutedReceiverSchema)

export function encodeAlertRoute({ matched, receivers }: RouteExplanation): string {
  return `{"matched":${JSON.stringify(matched)},"receivers":[${receivers.map(encodeRoutedReceiver).join(',')}]}`
}
