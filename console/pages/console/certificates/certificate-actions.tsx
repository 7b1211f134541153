import { useSignal } from '@preact/signals'
import { isolated } from '../../../i18n/isolated.ts'
import { BODIES } from '../../../api/generated.ts'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ChangeDialog } from '../../../parts/resource/change-dialog.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { useDownload } from '../../../parts/use-download.ts'
import { call, download, session } from '../platform.ts'
import { statusLabel } from './labels.ts'
import { certificateTone, type Certificate } from './model.ts'
import { certificateWords } from './words.ts'

export interface CertificateActionsProps {
  readonly certificate: Certificate
  readonly model: ResourceModel<Certificate>
  readonly onDeleted: () => void
}

/** What the user may do with a certificate. */
export function CertificateActions({ certificate, model, onDeleted }: CertificateActionsProps) {
  const words = certificateWords()
  const isRevoking = useSignal(false)
  const { apply } = useChange(model)
  const { id, name, status } = certificate
  const save = useDownload(() => download('getCertificatePem', { path: { id } }))
  const close = () => (isRevoking.value = false)
  const remove = () => {
    const { removeText: text, remove: action, removed: done } = words
    return sendChange({
      question: { title: words.removeTitle(isolated(name)), text, action, isDestructive: true },
      send: () => call('deleteCertificate', { path: { id } }),
      done,
      onDone: onDeleted,
    })
  }
  return (
    <ObjectActions
      status={{ tone: certificateTone(certificate), label: statusLabel(certificate) }}
      actions={[
        session.may('getCertificatePem') && save,
        status !== 'revoked' &&
          session.may('revokeCertificate') && {
            title: words.revoke,
            isDestructive: true,
            run: () => (isRevoking.value = true),
          },
        session.may('deleteCertificate') && { title: words.remove, isDestructive: true, run: remove },
      ]}
    >
      {isRevoking.value && (
        <ChangeDialog
          title={words.revoke}
          schema={BODIES.revokeCertificate}
          labels={{ reason: words.fields.reason }}
          action={words.revoke}
          apply={apply}
          request={(body) => call('revokeCertificate', { path: { id }, body })}
          done={words.revoked}
          onClose={close}
        />
      )}
    </ObjectActions>
  )
}
