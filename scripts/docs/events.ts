import { globSync } from 'node:fs'
import { join } from 'node:path'
import { code, page, table } from './markdown.ts'

const NOTE = `The subjects on which the platform speaks on the bus. Each event is a CloudEvents 1.0 envelope whose
\`type\` is the subject and whose \`data\` is the thing as the API shows it;
[the guide](../guide/api.md#events-on-the-bus) has an example and says what is promised.`

interface Event {
  readonly subject: string
  readonly domain: string
  readonly when: string
}

/** Every domain names its subjects in `events.ts`, in a record from what happened to the subject. */
export async function eventsPage(root: string): Promise<string> {
  const files = globSync('src/domains/*/events.ts', { cwd: root }).sort()
  const events = (await Promise.all(files.map((file) => eventsIn(root, file)))).flat()
  const rows = events.map(({ subject, domain, when }) => [code(subject), domain, when])
  return page('Events', NOTE, table(['Subject', 'Domain', 'When one becomes'], rows))
}

async function eventsIn(root: string, file: string): Promise<Event[]> {
  const domain = file.split('/').at(-2) ?? ''
  const exported = (await import(join(root, file))) as Readonly<Record<string, unknown>>
  const records = Object.keys(exported).filter((name) => name.endsWith('_EVENTS'))
  if (records.length === 0) throw new Error(`${file} exports no record of subjects that ends in _EVENTS.`)
  return records.flatMap((name) =>
    Object.entries(exported[name] as Readonly<Record<string, string>>).map(([when, subject]) => ({
      subject,
      domain,
      when,
    })),
  )
}
