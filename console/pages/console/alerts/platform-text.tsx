import type { ComponentChildren } from 'preact'
import type { OperationName } from '../../../api/operations.ts'
import { localTime } from '../../../i18n/local.ts'
import { LinkedText } from '../../../parts/linked-text.tsx'
import { session } from '../platform.ts'
import { pathOf } from '../view.ts'
import type { Alert, AlertChange, AlertDecision } from './model.ts'
import { alertWords } from './words.ts'

type Cause = NonNullable<AlertDecision['cause'] | AlertChange['cause']>
type Values = Readonly<Record<string, unknown>>

const linkTo =
  (name: 'alert' | 'silence', page: string, operation: OperationName) =>
  (words: string, values: Values): ComponentChildren => {
    const id = String(values[name])
    return (
      <>
        {words} {session.may(operation) ? <a href={`${pathOf({ name: page })}/${id}`}>{id}</a> : id}
      </>
    )
  }

const alertLink = linkTo('alert', 'alerts', 'getAlert')
const silenceLink = linkTo('silence', 'silences', 'getSilence')

/** What the platform says about alerts, by its code; an alert or a silence that it names is a link. */
const SENTENCES: Readonly<Record<Cause['code'], (values: Values) => ComponentChildren>> = {
  no_robot: () => alertWords().sentences.noRobot,
  no_receiver: () => alertWords().sentences.noReceiver,
  damped: () => alertWords().sentences.damped,
  outside_hours: ({ route, at }) => alertWords().sentences.outsideHours(String(route), localTime(String(at))),
  acknowledged: () => alertWords().sentences.acknowledged,
  acknowledgement_lapsed: () => alertWords().occasions.acknowledgement_lapsed,
  frozen: () => alertWords().sentences.frozen,
  superseded: () => alertWords().outcomes.superseded,
  below_level: ({ severity, least }) =>
    alertWords().sentences.belowLevel(severityName(severity), severityName(least)),
  inhibited: (values) => (
    <>
      {alertLink(alertWords().sentences.inhibitedBy, values)} ({values['alarm_id']}).
    </>
  ),
  silenced: (values) => (
    <>
      {silenceLink(alertWords().sentences.silencedBy, values)}: <LinkedText text={String(values['reason'])} />
    </>
  ),
  sent: ({ message }) => alertWords().sentences.sentIn(String(message)),
  bundled: ({ others, message }) => alertWords().sentences.sentWith(Number(others), String(message)),
  swings: ({ swings, reports }) => alertWords().sentences.swings(Number(swings), Number(reports)),
  never_pushed: ({ because, ...values }) => (
    <>
      {alertWords().sentences.neverPushed}{' '}
      {typeof because === 'string' && SENTENCES[because as Cause['code']]?.(values)}
    </>
  ),
}

export interface PlatformTextProps {
  /** Why people were notified, or not, or a note in the history. */
  readonly text: string | null
  readonly cause: Cause | null
}

/** A text of the platform in the language of the reader; that of a person or a robot is shown as it is. */
export function PlatformText({ text, cause }: PlatformTextProps) {
  const say = cause && SENTENCES[cause.code]
  return say ? <>{say(cause.values)}</> : <LinkedText text={text ?? ''} />
}

function severityName(raw: unknown): string {
  return alertWords().severities[raw as Alert['severity']] ?? String(raw)
}
