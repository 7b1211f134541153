import { Type } from 'typebox'
import { Fields } from '../../wire/schemas.ts'

const SUBJECT = '(?:[A-Za-z0-9_.-]{1,255}|[A-Za-z0-9_.-]{0,254}\\*)'

export const EventQuery = Fields({
  subjects: Type.Optional(
    Type.String({
      pattern: `^${SUBJECT}(?:,${SUBJECT})*$`,
      patternFault: ['not_subjects'],
      maxLength: 1_024,
      description:
        'Subjects separated by commas, each exact (`order.paid`) or a prefix that ends in `*` (`order.*`). Left out: ' +
        'all that the caller may read.',
      examples: ['order.*,alert.raised'],
    }),
  ),
})

export const EventStream = Type.String({
  description:
    'Server-sent events: `id` is the place of the event, `event` its subject, `data` its CloudEvents envelope. `reset`: ' +
    'events were missed, and the stream goes on with the next one.',
})
