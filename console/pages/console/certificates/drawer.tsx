import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { localDays, localNumber, localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ChangeDialog } from '../../../parts/resource/change-dialog.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { Timeline } from '../../../parts/timeline.tsx'
import { useDownload } from '../../../parts/use-download.ts'
import { WhoChanged } from '../audit/who-changed.tsx'
import { call, download, session } from '../platform.ts'
import { userLabel } from '../user-names.ts'
import { pathOf, type DetailProps } from '../view.ts'
import { warningText, statusLabel } from './labels.ts'
import { momentsOf, certificateTone, type Certificate } from './model.ts'
import { certificateResource } from './source.ts'
import { certificateWords } from './words.ts'

/** One certificate: what is wrong with it, what it is valid for, its chain and its life. */
export function CertificateDrawer({ id, onClose }: DetailProps) {
  const certificate = useResource(certificateResource, id)
  return (
    <ResourceDrawer id={id} model={certificate} titleOf={({ name }) => name} onClose={onClose}>
      {(shown) => (
        <>
          <CertificateActions certificate={shown} model={certificate} onDeleted={onClose} />
          <CertificateWarnings certificate={shown} />
          <CertificateFacts certificate={shown} />
          <CertificateChain certificate={shown} />
          <CertificateHistory certificate={shown} />
          <WhoChanged kind="certificate" id={id} version={shown.revoked_at} />
        </>
      )}
    </ResourceDrawer>
  )
}

interface CertificateProps {
  readonly certificate: Certificate
}

function CertificateWarnings({ certificate }: CertificateProps) {
  const words = certificateWords()
  const { warnings } = certificate
  if (warnings.length === 0) return null
  return (
    <Section title={words.warningTitle}>
      <ul class="notes">
        {warnings.map((warning) => (
          <li key={warning}>{warningText(certificate, warning)}</li>
        ))}
      </ul>
    </Section>
  )
}

function CertificateFacts({ certificate }: CertificateProps) {
  const { fields, newCertificateOf } = certificateWords()
  const { replaced_by } = certificate
  return (
    <FactList
      facts={[
        [fields.not_after, localTime(certificate.not_after)],
        [fields.days_left, localDays(certificate.days_left)],
        [fields.names, certificate.names.join('\n')],
        [fields.subject, certificate.subject],
        [fields.issuer, certificate.issuer],
        [fields.key, certificate.key],
        [fields.signature, certificate.signature],
        [fields.serial, certificate.serial],
        [fields.fingerprint_sha256, certificate.fingerprint_sha256],
        [
          fields.replaced_by,
          replaced_by && <a href={pathOf('certificates', replaced_by)}>{newCertificateOf}</a>,
        ],
        [fields.revoke_reason, certificate.revoke_reason],
      ]}
    />
  )
}

function CertificateChain({ certificate: { chain } }: CertificateProps) {
  const words = certificateWords()
  return (
    <Section title={words.chain}>
      {chain.length === 0 ? (
        <p class="muted">{words.noChain}</p>
      ) : (
        <FactList
          facts={chain.map(({ subject, issuer, not_after }, index) => [
            localNumber(index + 1),
            [subject, issuer && words.issuedBy(issuer), words.expiresAt(localTime(not_after))]
              .filter((line) => line !== undefined)
              .join('\n'),
          ])}
        />
      )}
    </Section>
  )
}

function CertificateHistory({ certificate }: CertificateProps) {
  const words = certificateWords()
  return (
    <Section title={words.history}>
      <Timeline
        label={words.history}
        entries={momentsOf(certificate).map(({ occasion, at, tone, note }) => ({
          key: occasion,
          at,
          tone,
          title: words.occasions[occasion],
          ...(note && { note: <bdi>{occasion === 'registered' ? words.by(userLabel(note)) : note}</bdi> }),
        }))}
      />
    </Section>
  )
}

interface CertificateActionsProps {
  readonly certificate: Certificate
  readonly model: ResourceModel<Certificate>
  readonly onDeleted: () => void
}

/** What the user may do with a certificate. */
function CertificateActions({ certificate, model, onDeleted }: CertificateActionsProps) {
  const words = certificateWords()
  const isRevoking = useSignal(false)
  const { apply } = useChange(model)
  const { id, name, status } = certificate
  const save = useDownload(() => download('getCertificatePem', { path: { id } }))
  const close = () => (isRevoking.value = false)
  const remove = () => {
    const { removeText: text, remove: action, removed: done } = words
    return sendChange({
      question: { title: words.removeTitle(isolateText(name)), text, action, isDestructive: true },
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
