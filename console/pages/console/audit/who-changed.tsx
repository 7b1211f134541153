import { Section } from '../../../parts/section.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { useAnswer } from '../../../parts/use-answer.ts'
import { call, session } from '../platform.ts'
import { changeLines, AUDIT_OUTCOME_TONES, type AuditRow } from './model.ts'
import { operationLabel } from './operation-words.ts'
import { auditWords } from './words.ts'

// The most that the API answers at once: a user may have signed in often since the last change.
const MOST_READ = 1_000
const MOST_SHOWN = 3
// The page of the object shows them itself.
const SHOWN_ELSEWHERE = new Set(['comments', 'history'])
const SIGN_IN = 'signIn'

/**
 * The changes of a row that the page of the object does not show itself. A new object has none: the page shows its fields.
 */
function shownChanges(row: AuditRow) {
  const isNew = Object.values(row.changes).every(([from]) => from === null)
  return isNew ? [] : changeLines(row).filter(([name]) => !SHOWN_ELSEWHERE.has(name))
}

interface WhoChangedProps {
  /** The kind of the object in the audit trail, such as `user`. */
  readonly kind: string
  readonly id: string
  /** The version of the object that is shown; another version reads the audit trail again. */
  readonly version?: string | null
}

/** Who has changed an object, without the sign-ins of a user, for those who may read the audit trail. */
export function WhoChanged(props: WhoChangedProps) {
  return session.may('listAudit') ? <ObjectChanges {...props} /> : null
}

function ObjectChanges({ kind, id, version }: WhoChangedProps) {
  const { whoChanged, nobody, by, changed } = auditWords()
  const query = { target: `${kind}:${id}`, limit: MOST_READ }
  const { answer } = useAnswer(() => call('listAudit', { query }), [kind, id, version])
  if (!answer) return null
  return (
    <Section title={whoChanged}>
      <Timeline
        label={whoChanged}
        empty={nobody}
        most={MOST_SHOWN}
        entries={answer.items
          .filter(({ operation }) => operation !== SIGN_IN)
          .map((row) => ({
            key: row.id,
            at: row.at,
            tone: AUDIT_OUTCOME_TONES[row.outcome],
            title: <bdi>{operationLabel(row.operation)}</bdi>,
            note: (
              <>
                <bdi>{by(row.actor.name)}</bdi>
                {shownChanges(row).map(([name, from, to]) => (
                  <div key={name}>
                    <bdi>
                      {name}: {changed(from, to)}
                    </bdi>
                  </div>
                ))}
              </>
            ),
          }))}
      />
    </Section>
  )
}
