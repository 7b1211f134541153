import type { ComponentChildren } from 'preact'
import type { OperationName } from '../../../api/operations.ts'
import { session } from '../platform.ts'
import { pathOf } from '../view.ts'
import type { Alert } from './model.ts'
import { alertWords } from './words.ts'

type Say = (groups: readonly string[]) => ComponentChildren

const naming = (beginning: string) => new RegExp(`^${beginning} ([\\da-f-]{36})(.*)$`, 's')

const names =
  (words: 'inhibitedBy' | 'silencedBy', page: string, operation: OperationName): Say =>
  ([id = '', rest = '']) => (
    <>
      {alertWords().reasons[words]}{' '}
      {session.may(operation) ? <a href={`${pathOf({ name: page })}/${id}`}>{id}</a> : id}
      {rest}
    </>
  )

/** The reasons of the platform with the words for them; an alert or a silence that a reason names is a link. */
const REASONS: readonly (readonly [RegExp, Say])[] = [
  [/^No robot is configured/, () => alertWords().reasons.noRobot],
  [/^The alert is acknowledged\.$/, () => alertWords().reasons.acknowledged],
  [/^The alert is frozen;/, () => alertWords().reasons.frozen],
  [/^([A-Z]+) is below ([A-Z]+) /, ([severity = '', least = '']) => belowLevel(severity, least)],
  [naming('Inhibited by the alert'), names('inhibitedBy', 'alerts', 'getAlert')],
  [naming('Silenced by'), names('silencedBy', 'silences', 'getSilence')],
  [
    /^The alert was never pushed\. ?(.*)$/s,
    ([rest = '']) => (
      <>
        {alertWords().reasons.neverPushed} <DecisionReason reason={rest} />
      </>
    ),
  ],
]

/** Why people were notified, or not; a reason without words, such as the error of a robot, is shown as the platform gives it. */
export function DecisionReason({ reason }: { readonly reason: string | null }) {
  for (const [pattern, say] of REASONS) {
    const [match, ...groups] = pattern.exec(reason ?? '') ?? []
    if (match !== undefined) return <>{say(groups)}</>
  }
  return <>{reason}</>
}

function belowLevel(severity: string, least: string): string {
  const { reasons, severities } = alertWords()
  const nameOf = (raw: string) => severities[raw as Alert['severity']] ?? raw
  return reasons.belowLevel(nameOf(severity), nameOf(least))
}
