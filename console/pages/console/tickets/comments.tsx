import { BODIES } from '../../../api/generated.ts'
import { LinkedText } from '../../../parts/linked-text.tsx'
import { SchemaForm } from '../../../parts/form/schema-form.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { Section } from '../../../parts/section.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { call, session } from '../platform.ts'
import { userLabel } from '../user-names.ts'
import type { TicketDetails } from './model.ts'
import { ticketWords } from './words.ts'

export interface TicketCommentsProps {
  readonly ticket: TicketDetails
  readonly model: ResourceModel<TicketDetails>
}

/** The comments of a ticket, and a form for another one. */
export function TicketComments({ ticket: { id, comments }, model }: TicketCommentsProps) {
  const words = ticketWords()
  const { apply } = useChange(model)
  const send = (body: object) =>
    apply({
      // A comment is meant for every version of the ticket. Without one, the API would name no field.
      send: () => call('editTicket', { path: { id }, body: { comment: '', ...body } }),
      done: words.commented,
    })
  return (
    <Section title={words.comments}>
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
