import { signal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { useEffect } from 'preact/hooks'
import { eventObject } from '../../../api/event-stream.ts'
import type { AnswerOf } from '../../../api/operations.ts'
import { defineWords } from '../../../i18n/language.ts'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { mentions } from '../../../parts/mentions.ts'
import { readLocal, writeLocal } from '../../../parts/preferences.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { showNews } from '../../../parts/toast.tsx'
import { notifiesOfAlerts } from '../alerts/alert-notices.tsx'
import { notify } from '../notify.ts'
import { call, live, session } from '../platform.ts'
import { pathOf } from '../view.ts'

const words = defineWords({
  mentioned: [(title: string) => `You are mentioned: ${title}`, (title) => `有人提到了您：${title}`],
  open: ['Open', '打开'],
})

type Ticket = AnswerOf<'listTickets'>['items'][number]

const PREFIX = 'ticket.'
const ticketIn = eventObject('TicketDetails')

/** Says that a comment of another person mentions the user, as soon as it is made. */
export function useMentionNotices(): void {
  const { route } = useLocation()
  useEffect(() => {
    if (!session.may('listTickets')) return undefined
    return live.subscribe({
      prefix: PREFIX,
      onEvent(event) {
        const ticket = ticketIn(event)
        if (!ticket || !isMentionedNow(ticket)) return
        const { id, title, comments } = ticket
        const open = () => route(pathOf('tickets', id))
        showNews(words().mentioned(isolateText(title)), { title: words().open, run: open })
        const body = comments.at(-1)?.text ?? ''
        if (notifiesOfAlerts()) notify({ id, title: words().mentioned(title), body, open })
      },
      onGap() {},
      onReturn() {},
    })
  }, [])
}

/** Whether the event is a comment that mentions the user. */
function isMentionedNow({ comments, updated_at }: AnswerOf<'getTicket'>): boolean {
  const { id, name } = session.bearer.peek() ?? {}
  const comment = comments.at(-1)
  if (!comment || !name || comment.at !== updated_at || comment.author === id) return false
  return mentions(comment.text, name)
}

const MOST_TICKETS = 100
const PAUSE_MS = 5_000

/** The unclosed tickets that mention the user. */
export const mentioningTickets: ResourceSource<{ readonly items: readonly Ticket[] }> = {
  live,
  prefix: PREFIX,
  pauseMs: PAUSE_MS,
  async read(_, signal) {
    const mentioned = session.bearer.peek()?.id ?? ''
    if (!session.may('listTickets') || mentioned === '') return { ok: true, value: { items: [] }, etag: null }
    return call('listTickets', { query: { mentioned, status: 'unclosed', limit: MOST_TICKETS } }, signal)
  },
}

const SEEN = 'platform.seen-mentions'
// More than a user is mentioned in at a time.
const MOST_SEEN = 200

/** How many comments each ticket had when this browser showed it last. */
const seen = signal<ReadonlyMap<string, number>>(readSeen())

function readSeen(): ReadonlyMap<string, number> {
  const pairs = (readLocal(SEEN) ?? '').split(',').map((pair) => pair.split(':'))
  return new Map(pairs.map(([id = '', count]) => [id, Number(count)]))
}

type CommentedTicket = Pick<Ticket, 'id' | 'comment_count'>

/** Whether the ticket has comments that the user has not seen in this browser. */
export function hasUnseenComments({ id, comment_count }: CommentedTicket): boolean {
  return comment_count > (seen.value.get(`${session.bearer.value?.id} ${id}`) ?? 0)
}

/** Remembers that the user has seen the comments of the ticket. */
export function keepSeen(ticket: CommentedTicket): void {
  if (!hasUnseenComments(ticket)) return
  const { id, comment_count } = ticket
  const key = `${session.bearer.peek()?.id} ${id}`
  const others = [...seen.peek()].filter(([other]) => other !== key)
  seen.value = new Map([...others, [key, comment_count] as const].slice(-MOST_SEEN))
  writeLocal(SEEN, [...seen.value].map((pair) => pair.join(':')).join(','))
}
