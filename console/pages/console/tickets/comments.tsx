import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import { LinkedText } from '../../../parts/linked-text.tsx'
import { SchemaForm } from '../../../parts/form/schema-form.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { reportFailure } from '../../../parts/report-failure.ts'
import { Section } from '../../../parts/section.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { call, session } from '../platform.ts'
import { userLabel } from '../user-names.ts'
import type { Comment, TicketDetails } from './model.ts'
import { readComments } from './source.ts'
import { ticketWords } from './words.ts'

export interface TicketCommentsProps {
  readonly ticket: TicketDetails
  readonly model: ResourceModel<TicketDetails>
}

/** The comments of a ticket, and a form for another one. */
export function TicketComments({ ticket, model }: TicketCommentsProps) {
  const { id } = ticket
  const words = ticketWords()
  const { comments, showOlder } = useComments(ticket)
  const { apply } = useChange(model)
  const send = (body: object) =>
    apply({
      // A comment is meant for every version of the ticket. Without one, the API would name no field.
      send: () => call('editTicket', { path: { id }, body: { comment: '', ...body } }),
      done: words.commented,
    })
  return (
    <Section title={words.comments}>
      {comments.length < ticket.comment_count && (
        <button type="button" class="button" onClick={() => void showOlder()}>
          {words.olderComments}
        </button>
      )}
      <Timeline
        label={words.comments}
        empty={words.noComments}
        entries={comments.map(({ id: key, at, author, text }) => ({
          key,
          at,
          tone: 'quiet' as const,
          title: <bdi>{userLabel(author)}</bdi>,
          note: (
            <bdi>
              <LinkedText text={text} />
            </bdi>
          ),
        }))}
      />
      {session.may('editTicket') && (
        <SchemaForm
          key={id}
          schema={BODIES.editTicket}
          labels={{ comment: words.fields.comment }}
          action={words.addComment}
          send={send}
          keepAs={`comment ${id}`}
          isRepeated
        />
      )}
    </Section>
  )
}

/** The newest comments of a ticket, which come with it, and the older ones that were asked for. */
function useComments({ id, comments: newest }: TicketDetails) {
  const pages = useSignal(0)
  const read = useSignal<readonly Comment[]>([])
  const showOlder = async () => {
    const found = await readComments(id, pages.value + 1)
    if (!found.ok) return reportFailure(found.failure)
    pages.value += 1
    read.value = found.value.items.toReversed()
  }
  const known = new Set(newest.map((comment) => comment.id))
  return { comments: [...read.value.filter((comment) => !known.has(comment.id)), ...newest], showOlder }
}
