import { localDays, localNumber, localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { userLabel } from '../user-names.ts'
import { pathOf } from '../view.ts'
import { WhoChanged } from '../audit/who-changed.tsx'
import { CertificateActions } from './certificate-actions.tsx'
import { warningText } from './labels.ts'
import { momentsOf, type Certificate } from './model.ts'
import { certificateResource } from './source.ts'
import { certificateWords } from './words.ts'

export interface CertificateDrawerProps {
  readonly id: string
  readonly onClose: () => void
}

/** One certificate: what is wrong with it, what it is valid for, its chain and its life. */
export function CertificateDrawer({ id, onClose }: CertificateDrawerProps) {
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
          replaced_by && (
            <a href={`${pathOf({ name: 'certificates' })}/${replaced_by}`}>{newCertificateOf}</a>
          ),
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
