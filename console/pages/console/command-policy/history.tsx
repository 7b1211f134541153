import { localNumber } from '../../../i18n/local.ts'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Timeline } from '../../../parts/timeline.tsx'
import { userLabel } from '../user-names.ts'
import { ruleText } from './labels.ts'
import { policyChanges, type PolicyChange } from './model.ts'
import { policyHistory } from './source.ts'
import { commandPolicyWords } from './words.ts'

/** Who changed the policy, and how; newest first. */
export function PolicyHistory() {
  const words = commandPolicyWords()
  const model = useResource(policyHistory, '')
  return (
    <ResourceView model={model}>
      {(page) => {
        const changes = policyChanges(page)
        return (
          <>
            <Timeline label={words.views.history} entries={changes.map(entryOf)} empty={words.noHistory} />
            {page.next_cursor !== null && <p class="muted">{words.older(localNumber(changes.length))}</p>}
          </>
        )
      }}
    </ResourceView>
  )
}

function entryOf({ revision, at, actor, changes }: PolicyChange) {
  const words = commandPolicyWords()
  const lines = changes.map(({ id, from, to }) => words.change(id, ruleText(from), ruleText(to)))
  return {
    key: String(revision),
    at,
    tone: 'active' as const,
    title: words.revision(localNumber(revision)),
    note: (
      <>
        <bdi>{words.by(userLabel(actor))}</bdi>
        {(lines.length === 0 ? [words.sameRules] : lines).map((line) => (
          <div key={line}>
            <bdi>{line}</bdi>
          </div>
        ))}
      </>
    ),
  }
}
