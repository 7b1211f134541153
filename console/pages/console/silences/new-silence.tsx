import { BODIES } from '../../../api/generated.ts'
import type { BodyOf } from '../../../api/operations.ts'
import { FormDialog } from '../../../parts/form/form-dialog.tsx'
import type { FormValues } from '../../../parts/form/form-fields.ts'
import { showToast } from '../../../parts/toast.tsx'
import { call } from '../platform.ts'
import { silenceWords } from './words.ts'

export interface NewSilenceProps {
  readonly initial?: FormValues
  readonly onClose: () => void
}

/** Asks which alerts to silence, and until when. */
export function NewSilence({ initial = {}, onClose }: NewSilenceProps) {
  const words = silenceWords()
  const create = async (body: object) => {
    const result = await call('createSilence', { body: body as BodyOf<'createSilence'> })
    if (!result.ok) return result.failure
    showToast('good', words.created)
    onClose()
    return null
  }
  return (
    <FormDialog
      title={words.newSilence}
      schema={BODIES.createSilence}
      labels={words.fields}
      hints={words.hints}
      initial={initial}
      action={words.create}
      send={create}
      onClose={onClose}
    />
  )
}
