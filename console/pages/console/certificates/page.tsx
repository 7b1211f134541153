import { BODIES } from '../../../api/generated.ts'
import type { ApiFailure, ApiResult, BodyOf } from '../../../api/operations.ts'
import { isolateText } from '../../../i18n/isolate-text.ts'
import { localDays } from '../../../i18n/local.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { invalidFields } from '../../../parts/form/invalid-fields.ts'
import { fieldColumns } from '../../../parts/list/columns.tsx'
import type { TableColumn } from '../../../parts/list/data-table.tsx'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { ObjectsPage } from '../../../parts/list/objects-page.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { session, call } from '../platform.ts'
import { pathOf, type ViewProps } from '../view.ts'
import { hasPrivateKey, readCertificateFile } from './certificate-file.ts'
import { CertificateDrawer } from './drawer.tsx'
import { statusLabel } from './labels.ts'
import { certificateTone, type Certificate } from './model.ts'
import { certificateList } from './source.ts'
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
