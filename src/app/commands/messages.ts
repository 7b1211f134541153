import { changesBetween } from '../../kernel/audit.ts'
import { systemClock } from '../../kernel/clock.ts'
import { formatCount } from '../../kernel/text.ts'
import { invalidField } from '../../kernel/errors.ts'
import { MINUTE, toRfc3339 } from '../../kernel/time.ts'
import { DUPLICATE_WINDOW_MS } from '../../infra/bus/jetstream.ts'
import { parseTime } from '../../wire/codec.ts'
import { readBusStream } from '../../store/work/marks.ts'
import { withDomains } from './domains.ts'
import { configOf, withProgress, type CommandContext, type ConfigOptions } from './context.ts'

export interface ReplayOptions extends ConfigOptions {
  readonly since: string
  readonly until?: string
}

/** `platform messages replay`: a running platform then sends the messages again that the bus has confirmed in this time. */
export async function replayMessages(context: CommandContext, options: ReplayOptions): Promise<void> {
  const span = spanOf(options, systemClock.now())
  const loaded = configOf(context, options)
  const { replayed, streamMadeAt } = await withDomains(
    context,
    loaded,
    async ({ domains, store, record }) => {
      const times = { since: toRfc3339(span.since), until: toRfc3339(span.until) }
      const target = { kind: 'message', id: null }
      await store.write((tx) => record(tx, 'messages.replay', target, changesBetween(undefined, times)))
      const replaying = domains.messages.service.replay(span)
      return {
        replayed: await withProgress(context, 'marking the messages', replaying),
        streamMadeAt: (await readBusStream(store.read))?.madeAt ?? 0,
      }
    },
  )
  const sent = replayed === 0 ? '' : '; a running platform sends them again'
  context.stdout.write(
    `${formatCount(replayed, 'message')} ${replayed === 1 ? 'waits' : 'wait'} for the bus${sent}\n`,
  )
  // A new stream does not know the ids of messages in the stream before it.
  const droppedFrom = Math.max(systemClock.now() - DUPLICATE_WINDOW_MS, streamMadeAt + MINUTE)
  if (replayed > 0 && span.until > droppedFrom) context.stdout.write(hintOf(droppedFrom))
}

/** Warns that the stream drops messages whose ids it remembers for the duplicate window, even if it has lost the messages. */
function hintOf(droppedFrom: number): string {
  const minutes = DUPLICATE_WINDOW_MS / MINUTE
  return (
    `The stream PLATFORM takes no message again for ${minutes} minutes, even if it has lost it since. ` +
    `For messages that it confirmed after ${toRfc3339(droppedFrom)}, repeat the command when that time is over.\n`
  )
}

/** The end is in the past: what is sent again in the meantime is not sent a third time. */
function spanOf({ since: begin, until: end }: ReplayOptions, now: number) {
  const since = parseTime('--since', begin)
  const until = Math.min(now, end === undefined ? now : parseTime('--until', end))
  if (since >= until)
    throw invalidField('--since', 'invalid', { reason: 'must be before --until, and in the past' })
  return { since, until }
}
