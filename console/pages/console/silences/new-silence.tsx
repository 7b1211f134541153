import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { browserClock } from '../../../api/browser.ts'
import { localSeconds } from '../../../i18n/local.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { QuickValue } from '../../../parts/form/field-input.tsx'
import type { FormValues } from '../../../parts/form/form-fields.ts'
import { call } from '../platform.ts'
import { silenceWords } from './words.ts'

// An hour, four hours, a day, a week.
const SPANS = [3_600, 14_400, 86_400, 604_800]

/** The end of a silence that begins now and lasts so many seconds. */
function endAfter(seconds: number): QuickValue {
  return {
    label: localSeconds(seconds),
    valueOf: () => new Date(browserClock.now() + seconds * 1_000).toISOString(),
  }
}

export interface NewSilenceProps {
  readonly initial?: FormValues
  readonly onClose: () => void
}

/** Asks which alerts to silence, and until when. */
export function NewSilence({ initial = {}, onClose }: NewSilenceProps) {
  const words = silenceWords()
  return (
    <CreateDialog
      title={words.newSilence}
      schema={BODIES.createSilence}
      labels={words.fields}
      hints={words.hints}
      quickValues={{ ends_at: SPANS.map(endAfter) }}
      initial={initial}
      action={words.create}
      create={(body) => call('createSilence', { body: body as BodyOf<'createSilence'> })}
      doneOf={() => words.created}
      onCreated={onClose}
      onClose={onClose}
    />
  )
}
