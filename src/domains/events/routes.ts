import { Type } from 'typebox'
import { SHARED_ERRORS } from '../../wire/error-codes.ts'
import { EVENT_STREAM } from '../../wire/event-stream.ts'
import { type Route, routeOf } from '../../wire/route.ts'
import { Fields } from '../../wire/schemas.ts'
import type { LiveEvents } from './service.ts'

const route = routeOf('Events')

const { too_many_streams } = SHARED_ERRORS

/** docs/specification.md, Live stream */
export function eventRoutes(events: Pick<LiveEvents, 'open'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/events',
      operation: 'streamEvents',
      summary: 'Follow events as they are committed',
      description:
        'Each event comes once it is committed, whether the bus is connected or not. The stream begins now, or behind ' +
        'the event that `Last-Event-ID` names. A comment comes every 15 seconds. A client that does not read is ' +
        'disconnected, and resumes by the id of its last event. A subject needs a role of the list of its objects.',
      access: ['admin', 'devops', 'auditor', 'service'],
      query: EventQuery,
      answers: { 200: { description: 'The stream.', schema: EventStream, contentType: EVENT_STREAM } },
      errors: { too_many_streams },
      stream: ({ identity, query, headers }) =>
        events.open({
          identity,
          subjects: query.subjects?.split(','),
          lastEventId: headers['last-event-id']?.toString(),
        }),
    }),
  ]
}

const SUBJECT = '(?:[A-Za-z0-9_.-]{1,255}|[A-Za-z0-9_.-]{0,254}\\*)'

const EventQuery = Fields({
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

const EventStream = Type.String({
  description:
    'Server-sent events: `id` is the place of the event, `event` its subject, `data` its CloudEvents envelope. `reset`: ' +
    'events were missed, and the stream goes on with the next one.',
})
