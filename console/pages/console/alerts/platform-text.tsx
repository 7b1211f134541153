import type { ComponentChildren } from 'preact'
import type { OperationName } from '../../../api/operations.ts'
import { LinkedText } from '../../../parts/linked-text.tsx'
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
      {alertWords().sentences[words]}{' '}
      {session.may(operation) ? <a href={`${pathOf({ name: page })}/${id}`}>{id}</a> : id}
      {rest}
    </>
  )

/** The sentences of the platform about alerts; an alert or a silence that one of them names is a link. */
const SENTENCES: readonly (readonly [RegExp, Say])[] = [
  [/^No robot is configured/, () => alertWords().sentences.noRobot],
  [/^The alert is acknowledged\.$/, () => alertWords().sentences.acknowledged],
  [/^The alert is frozen;/, () => alertWords().sentences.frozen],
  [/^([A-Z]+) is below ([A-Z]+) /, ([severity = '', least = '']) => belowLevel(severity, least)],
  [naming('Inhibited by the alert'), names('inhibitedBy', 'alerts', 'getAlert')],
  [naming('Silenced by'), names('silencedBy', 'silences', 'getSilence')],
  [/^Sent in message (.+)\.$/, ([message = '']) => alertWords().sentences.sentIn(message)],
  [
    /^Sent with (\d+) others? in message (.+)\.$/,
    ([others = '', message = '']) => alertWords().sentences.sentWith(others, message),
  ],
  [
    /^(\d+) swings? in (\d+) reports?$/,
    ([swings = '', reports = '']) => alertWords().sentences.swings(swings, reports),
  ],
  [/^the acknowledgement has lapsed$/, () => alertWords().occasions.acknowledgement_lapsed],
  [
    /^The alert was never pushed\. ?(.*)$/s,
    ([rest = '']) => (
      <>
        {alertWords().sentences.neverPushed} <PlatformText text={rest} />
      </>
    ),
  ],
]

export interface PlatformTextProps {
  /** Why people were notified, or not, or a note in the history. */
  readonly text: string | null
}

/** A text of the platform in the language of the reader; that of a person or a robot is shown as it is. */
export function PlatformText({ text }: PlatformTextProps) {
  for (const [pattern, say] of SENTENCES) {
    const [match, ...groups] = pattern.exec(text ?? '') ?? []
    if (match !== undefined) return <>{say(groups)}</>
  }
  return <LinkedText text={text ?? ''} />
}

function belowLevel(severity: string, least: string): string {
  const { sentences, severities } = alertWords()
  const nameOf = (raw: string) => severities[raw as Alert['severity']] ?? raw
  return sentences.belowLevel(nameOf(severity), nameOf(least))
}
