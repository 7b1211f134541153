import { isolated } from '../../../i18n/isolated.ts'
import { BODIES } from '../../../api/generated.ts'
import type { ApiFailure, ApiResult, BodyOf } from '../../../api/operations.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import { invalidFields } from '../../../parts/form/invalid-fields.ts'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { call } from '../platform.ts'
import { hasPrivateKey, readCertificateFile } from './certificate-file.ts'
import type { Certificate } from './model.ts'
import { certificateWords } from './words.ts'

/** Asks for a certificate in PEM: typed, pasted or read from a file. */
export function NewCertificate({ onClose, onCreated }: NewItemDialog) {
  const words = certificateWords()
  const { name, pem } = words.fields
  return (
    <CreateDialog
      title={words.newCertificate}
      schema={BODIES.registerCertificate}
      labels={{ name, pem }}
      hints={words.hints}
      files={{ pem: { accept: '.pem,.crt,.cer,.der', read: readCertificateFile } }}
      action={words.register}
      create={register}
      doneOf={(certificate) => words.registered(isolated(certificate.name))}
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

/** Puts a refusal of the text to its field. */
function atPem(failure: ApiFailure): ApiFailure {
  if (!PEM_CODES.includes(failure.code)) return failure
  return { ...failure, details: [{ path: 'pem', code: 'console', message: failure.message }] }
}
