import { encoderOf } from '../../../wire/codec.ts'
import { PageOf } from '../../../wire/page.ts'
import { CauseOf, Fields, Id, Nullable, OneOf, Timestamp } from '../../../wire/schemas.ts'
import { Type } from 'typebox'
import { FREEZE_OCCASIONS, PLAIN_OCCASIONS } from '../occasion.ts'
import { DECISION_CAUSES, OUTCOMES } from './model.ts'

const DecisionSchema = Fields(
  {
    id: Id,
    at: Timestamp,
    occasion: OneOf([...PLAIN_OCCASIONS, ...FREEZE_OCCASIONS], 'Why people may have to be notified.'),
    channel: Type.String({ description: 'Where the notification is sent.', examples: ['robot'] }),
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
