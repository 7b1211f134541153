import { DOMAINS } from '../../src/app/domains.ts'
import { code, page, table } from './markdown.ts'

const NOTE = `The subjects to which the platform publishes. Each event is a CloudEvents 1.0 envelope: \`type\` is the
subject, \`data\` is the object as the API returns it. [The guide](../guide/api.md#events-on-the-bus) has an example and
the delivery guarantees.`

export function eventsPage(): string {
  const rows = DOMAINS.flatMap(({ name, events }) =>
    Object.entries<string>(events).map(([when, subject]) => [code(subject), name, when]),
  )
  return page('Events', NOTE, table(['Subject', 'Domain', 'Trigger'], rows))
}
