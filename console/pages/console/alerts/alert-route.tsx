import type { AnswerOf } from '../../../api/operations.ts'
import { localTime } from '../../../i18n/local.ts'
import { Section } from '../../../parts/section.tsx'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource, type ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call } from '../platform.ts'
import { alertResource } from './source.ts'
import { alertWords } from './words.ts'

const alertRoute: ResourceSource<AnswerOf<'getAlertRoute'>> = {
  ...alertResource,
  read: (id, signal) => call('getAlertRoute', { path: { id } }, signal),
}

/** Whom the routes of an alert notify: those who have a message, those who get one later, and why others get none. */
export function AlertRoute({ id }: { readonly id: string }) {
  const words = alertWords()
  const reasons = { ...words.outcomes, ...words.becauses }
  const route = useResource(alertRoute, id)
  return (
    <Section title={words.route}>
      <ResourceView model={route}>
        {({ matched, receivers }) => (
          <>
            <p class="muted">
              {words.routes} <bdi>{matched.join(', ')}</bdi>
            </p>
            {receivers.length === 0 && <p>{words.outcomes.disabled}</p>}
            <ul aria-label={words.route}>
              {receivers.map(({ name, at, because }, index) => (
                <li key={`${name} ${index}`}>
                  <bdi>{name}</bdi>: {reasons[because]}
                  {at !== null && ` · ${localTime(at)}`}
                </li>
              ))}
            </ul>
          </>
        )}
      </ResourceView>
    </Section>
  )
}
