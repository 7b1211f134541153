import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { FormValues } from '../../../parts/form/form-fields.ts'
import { call } from '../platform.ts'
import { silenceWords } from './words.ts'

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
      initial={initial}
      action={words.create}
      create={(body) => call('createSilence', { body: body as BodyOf<'createSilence'> })}
      doneOf={() => words.created}
      onCreated={onClose}
      onClose={onClose}
    />
  )
}
