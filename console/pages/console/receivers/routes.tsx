import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { AnswerOf } from '../../../api/operations.ts'
import { localSeconds, localTime } from '../../../i18n/local.ts'
import { Button } from '../../../parts/button.tsx'
import { reportFailure } from '../../../parts/report-failure.ts'
import { ResourceView } from '../../../parts/resource/resource-view.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { FIRING_SEVERITIES } from '../alerts/severities.ts'
import { alertWords } from '../alerts/words.ts'
import { call } from '../platform.ts'
import { silenceWords } from '../silences/words.ts'
import { resourceOf } from '../sources.ts'
import { receiverWords } from './words.ts'

type AlertRoute = AnswerOf<'getAlertRoutes'>['routes'][number]
type Answer = AnswerOf<'explainAlertRoute'>

const routeList = resourceOf('getAlertRoutes', 'alert.', () => ({}), { isAbout: () => false })

/** The routes in their order, and where an alert would go that does not exist yet. */
export function AlertRoutes() {
  const { about, answerTitle, title } = receiverWords().routes
  const routes = useResource(routeList, '')
  const answer = useSignal<Answer | null>(null)
  return (
    <section class="page-section" aria-labelledby="alert-routes">
      <h2 id="alert-routes" class="section-title">
        {title}
      </h2>
      <p class="muted">{about}</p>
      <RouteQuestion onAnswer={(routing) => (answer.value = routing)} />
      <RouteAnswer answer={answer.value} label={answerTitle} />
      <ResourceView model={routes}>
        {({ routes: all }) => (
          <ol class="alert-routes" aria-label={title}>
            {all.map((route) => (
              <RouteRow
                key={route.name}
                route={route}
                isMatched={answer.value?.matched.includes(route.name) ?? false}
              />
            ))}
          </ol>
        )}
      </ResourceView>
    </section>
  )
}

const TEXTS = ['source', 'title', 'alarm_id', 'server_addr'] as const

/** Asks where an alert with these texts and this severity would go. */
function RouteQuestion({ onAnswer }: { readonly onAnswer: (answer: Answer) => void }) {
  const { ask, question } = receiverWords().routes
  const { fields, severities } = alertWords()
  const { fields: matched } = silenceWords()
  const id = useId()
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    const entered = [...new FormData(event.currentTarget)].filter(([, value]) => value !== '')
    const result = await call('explainAlertRoute', { query: Object.fromEntries(entered) })
    if (result.ok) onAnswer(result.value)
    else reportFailure(result.failure)
  }
  return (
    <form class="filters" aria-label={question} onSubmit={(event) => void submit(event)}>
      <b class="filters-title">{question}</b>
      {TEXTS.map((name) => (
        <label key={name} class="filter" for={`${id}-${name}`}>
          <span class="filter-name">{matched[`matchers.${name}`]}</span>
          <input id={`${id}-${name}`} class="input" name={name} required={name === 'source'} />
        </label>
      ))}
      <label class="filter" for={`${id}-severity`}>
        <span class="filter-name">{fields.severity}</span>
        <select id={`${id}-severity`} class="input" name="severity">
          {FIRING_SEVERITIES.map((severity) => (
            <option key={severity} value={severity} selected={severity === 'ERROR'}>
              {severities[severity]}
            </option>
          ))}
        </select>
      </label>
      <Button type="submit">{ask}</Button>
    </form>
  )
}

export interface RouteAnswerProps {
  readonly answer: Answer | null
  readonly label: string
}

/** Whom an alert would reach, and why. */
export function RouteAnswer({ answer, label }: RouteAnswerProps) {
  const { goes } = receiverWords().routes
  const { routeReasons, outcomes } = alertWords()
  if (!answer) return null
  const reasons = { ...outcomes, ...routeReasons, route: goes }
  return (
    <ul class="alert-route-answer card" aria-label={label} aria-live="polite">
      {answer.receivers.length === 0 && <li>{outcomes.disabled}</li>}
      {answer.receivers.map(({ name, at, because }, index) => (
        <li key={`${name} ${index}`}>
          <b>
            <bdi>{name}</bdi>
          </b>
          : {reasons[because]}
          {at !== null && because !== 'route' && ` · ${localTime(at)}`}
        </li>
      ))}
    </ul>
  )
}

interface RouteRowProps {
  readonly route: AlertRoute
  readonly isMatched: boolean
}

/** What a route matches, and whom it notifies when. */
function RouteRow({ route, isMatched }: RouteRowProps) {
  const words = receiverWords().routes
  const { name, receivers, escalate, repeat_every_seconds, continue: goesOn } = route
  return (
    <li class={isMatched ? 'alert-route card alert-route-matched' : 'alert-route card'}>
      <div class="alert-route-match">
        <b>{name === 'default' ? words.defaultRoute : <bdi>{name}</bdi>}</b>
        {isMatched && <span class="visually-hidden"> {words.matched}</span>}
        <ul>
          {conditionsOf(route).map((condition) => (
            <li key={condition}>
              <bdi>{condition}</bdi>
            </li>
          ))}
        </ul>
      </div>
      <ul class="alert-route-steps">
        {receivers.length > 0 ? (
          <RouteStep when={words.atOnce} receivers={receivers} />
        ) : (
          <li class="muted">{words.nobody}</li>
        )}
        {escalate.map(({ after_seconds, receivers: later }) => (
          <RouteStep key={after_seconds} when={words.after(localSeconds(after_seconds))} receivers={later} />
        ))}
        {repeat_every_seconds !== null && (
          <li class="muted">{words.repeated(localSeconds(repeat_every_seconds))}</li>
        )}
        {goesOn && <li class="muted">{words.goesOn}</li>}
      </ul>
    </li>
  )
}

function RouteStep({ when, receivers }: { readonly when: string; readonly receivers: readonly string[] }) {
  return (
    <li>
      <span class="muted">{when}</span>
      {receivers.map((receiver) => (
        <span key={receiver} class="badge badge-active">
          <bdi>{receiver}</bdi>
        </span>
      ))}
    </li>
  )
}

function conditionsOf({ match, min_severity, hours }: AlertRoute): string[] {
  const words = receiverWords().routes
  const { severities } = alertWords()
  const { fields } = silenceWords()
  const texts = TEXTS.flatMap((name) =>
    match[name] === undefined ? [] : [`${fields[`matchers.${name}`]}: ${match[name]}`],
  )
  const severity = FIRING_SEVERITIES.find((listed) => listed === min_severity)
  return [
    ...(texts.length > 0 ? texts : [words.everyAlert]),
    ...(severity ? [words.from(severities[severity])] : []),
    ...(hours ? [hoursText(hours)] : []),
  ]
}

function hoursText({ days, from, to, time_zone }: NonNullable<AlertRoute['hours']>): string {
  const names = silenceWords().days
  return `${days.map((day) => names[day]).join(', ')} ${from}–${to} ${time_zone}`
}
