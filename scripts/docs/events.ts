import { DOMAINS } from '../../src/app/domains.ts'
import { code, page, table } from './markdown.ts'

const NOTE = `The subjects on which the platform speaks on the bus. Each event is a CloudEvents 1.0 envelope whose
\`type\` is the subject and whose \`data\` is the thing as the API shows it;
[the guide](../guide/api.md#events-on-the-bus) has an example and says what is promised.`

export function eventsPage(): string {
  const rows = DOMAINS.flatMap(({ name, events }) =>
    Object.entries<string>(events).map(([when, subject]) => [code(subject), name, when]),
  )
  return page('Events', NOTE, table(['Subject', 'Domain', 'When'], rows))
}
