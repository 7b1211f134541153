import { useSignal } from '@preact/signals'
import { BODIES } from '../../../api/generated.ts'
import type { ApiFailure, ApiResult, BodyOf } from '../../../api/operations.ts'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { localDays, localNumber, localTime } from '../../../i18n/local.ts'
import { FactList } from '../../../parts/facts.tsx'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { invalidFields } from '../../../parts/form/invalid-fields.ts'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { ObjectActions } from '../../../parts/object-actions.tsx'
import { ChangeDialog } from '../../../parts/resource/change-dialog.tsx'
import { ResourceDrawer } from '../../../parts/resource/resource-drawer.tsx'
import type { ResourceModel } from '../../../parts/resource/resource-model.ts'
import { useChange } from '../../../parts/resource/use-change.tsx'
import { useResource } from '../../../parts/resource/use-resource.ts'
import { Section } from '../../../parts/section.tsx'
import { sendChange } from '../../../parts/send-change.ts'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { Timeline } from '../../../parts/timeline.tsx'
import { useDownload } from '../../../parts/use-download.ts'
import { WhoChanged } from '../audit/who-changed.tsx'
import { session, call, download } from '../platform.ts'
import { listOf, resourceOf } from '../sources.ts'
import { byUser } from '../user-names.ts'
import { pathOf, type ViewProps, type DetailProps } from '../view.ts'
import { hasPrivateKey, readCertificateFile } from './certificate-file.ts'
import { certificateTone, momentsOf, hasWrongChain, CERTIFICATE_FILTERS, type Certificate } from './model.ts'
import { certificateWords } from './words.ts'

const INSPECTION = pathOf('commands', 'certificates.inspect')

/** The certificates: the list, and beside it the certificate that the address names. */
export function CertificatesPage({ id }: ViewProps) {
  const words = certificateWords()
  return (
    <ObjectsPage
      path={pathOf('certificates')}
      source={certificateList}
      words={words}
      labelOf={(_, value) => words.statuses[value as Certificate['status']]}
      columns={certificateColumns()}
      icon="certificates"
      id={id}
      head={() =>
        session.may('deleteCertificate') && (
          <a class="button" href={INSPECTION}>
            {words.inspect}
          </a>
        )
      }
      newItem={session.may('registerCertificate') && NewCertificate}
      detail={(detail) => <CertificateDrawer key={detail.id} {...detail} />}
    />
  )
}

function certificateColumns(): readonly TableColumn<Certificate>[] {
  const { fields } = certificateWords()
  const column = fieldColumns<Certificate, typeof fields>(fields)
  return [
    column.text('name'),
    column.cell('status', (certificate) => (
      <StatusBadge tone={certificateTone(certificate)} label={statusLabel(certificate)} />
    )),
    column.cell('days_left', ({ days_left }) => localDays(days_left), {
      isFromMedium: true,
      isNumeric: true,
    }),
    column.exactTime('not_after', { isWideOnly: true }),
    column.time('created_at', { isWideOnly: true, isOptional: true }),
    column.cell('names', ({ names }) => <bdi>{names.join(', ')}</bdi>, { isWideOnly: true }),
  ]
}

/** Asks for a certificate in PEM: typed, pasted or read from a file. */
function NewCertificate({ onClose, onCreated }: NewItemDialog) {
  const words = certificateWords()
  const { name, pem } = words.fields
  return (
    <CreateDialog
      title={words.newItem}
      schema={BODIES.registerCertificate}
      labels={{ name, pem }}
      hints={words.hints}
      files={{ pem: { accept: '.pem,.crt,.cer,.der', read: readCertificateFile } }}
      action={words.register}
      create={register}
      doneOf={(certificate) => words.registered(isolateText(certificate.name))}
      onCreated={({ id }) => onCreated(id)}
      onClose={onClose}
    />
  )
}

async function register(body: object): Promise<ApiResult<Certificate>> {
  const { pem = '' } = body as Partial<BodyOf<'registerCertificate'>>
  if (hasPrivateKey(pem)) {
    emptyPem()
    return { ok: false, failure: invalidFields([{ path: 'pem', message: certificateWords().keyRefused }]) }
  }
  const result = await call('registerCertificate', { body: body as BodyOf<'registerCertificate'> })
  if (!result.ok && result.failure.code === 'private_key_refused') emptyPem()
  return result.ok ? result : { ok: false, failure: atPem(result.failure) }
}

/** The key must not stay on screen; the form takes the change as if it was typed. */
function emptyPem(): void {
  const box = document.querySelector<HTMLTextAreaElement>('dialog[open] textarea')
  if (!box) return
  box.value = ''
  box.dispatchEvent(new InputEvent('input', { bubbles: true }))
}

const PEM_CODES = ['invalid_certificate', 'private_key_refused', 'certificate_exists']

/** Shows the refusal of a text as a fault of the field `pem`. */
function atPem(failure: ApiFailure): ApiFailure {
  if (!PEM_CODES.includes(failure.code)) return failure
  return { ...failure, details: [{ path: 'pem', code: 'console', message: failure.message }] }
}

/** One certificate: what is wrong with it, what it is valid for, its chain and its life. */
function CertificateDrawer({ id, onClose }: DetailProps) {
  const model = useResource(certificateResource, id)
  return (
    <ResourceDrawer id={id} model={model} titleOf={({ name }) => name} onClose={onClose}>
      {(certificate) => (
        <>
          <CertificateActions certificate={certificate} model={model} onDeleted={onClose} />
          <CertificateWarnings certificate={certificate} />
          <CertificateFacts certificate={certificate} />
          <CertificateChain certificate={certificate} />
          <CertificateHistory certificate={certificate} />
          <WhoChanged kind="certificate" id={id} version={certificate.revoked_at} />
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
          ...(note && { note: <bdi>{occasion === 'registered' ? byUser(note) : note}</bdi> }),
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
  const remove = () =>
    sendChange({
      words: { ...words.remove, title: words.remove.title(isolateText(name)) },
      isDestructive: true,
      send: () => call('deleteCertificate', { path: { id } }),
      onDone: onDeleted,
    })
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
        session.may('deleteCertificate') && { title: words.remove.action, isDestructive: true, run: remove },
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

/** The words for the status; a wrong chain is named instead of a status such as "valid". */
function statusLabel(certificate: Pick<Certificate, 'status' | 'warnings'>): string {
  const { statuses, wrongChain } = certificateWords()
  return hasWrongChain(certificate) ? wrongChain : statuses[certificate.status]
}

type Warning = Certificate['warnings'][number]

/** The words for a warning. A warning about the chain also names which certificate is missing in it. */
function warningText({ issuer, chain: [next] }: Certificate, warning: Warning): string {
  const { warnings, missingSigner } = certificateWords()
  const isOfChain = warning === 'chain_broken' || warning === 'chain_order'
  if (!isOfChain || !next || next.subject === issuer) return warnings[warning]
  return `${warnings[warning]} ${missingSigner(isolateText(issuer), isolateText(next.subject))}`
}

const PREFIX = 'certificate.'

/** The certificates; the one that ends next is first. */
const certificateList = listOf('listCertificates', PREFIX, {
  filters: CERTIFICATE_FILTERS,
  query: { sort: 'not_after' },
  sorts: [
    { value: '', column: 'not_after', direction: 'ascending' },
    { value: 'created_at', column: 'created_at', direction: 'descending' },
  ],
  keyOf: ({ id }) => id,
  // A new certificate replaces others, which then have another status.
  fromEvent: () => 'changed',
})

/** One certificate, read again after the event of any certificate, because another one may replace it. */
const certificateResource = resourceOf('getCertificate', PREFIX, (id) => ({ path: { id } }))
