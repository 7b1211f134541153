import { isolated } from '../../../i18n/isolated.ts'
import { BODIES } from '../../../api/generated.ts'
import type { ApiResult, BodyOf } from '../../../api/operations.ts'
import { CreateDialog } from '../../../parts/form/create-dialog.tsx'
import type { NewItemDialog } from '../../../parts/list/new-item.tsx'
import { call } from '../platform.ts'
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
      files={{ pem: '.pem,.crt,.cer' }}
      action={words.register}
      create={register}
      doneOf={(certificate) => words.registered(isolated(certificate.name))}
      onCreated={({ id }) => onCreated(id)}
      onClose={onClose}
    />
  )
}

async function register(body: object): Promise<ApiResult<Certificate>> {
  const result = await call('registerCertificate', { body: body as BodyOf<'registerCertificate'> })
  return result.ok ? result : { ok: false, failure: atPem(result.failure) }
}

const PEM_CODES = ['invalid_certificate', 'private_key_refused', 'certificate_exists']

/** Puts a refusal of the text to its field. */
function atPem(failure: Extract<ApiResult<Certificate>, { ok: false }>['failure']): typeof failure {
  if (!PEM_CODES.includes(failure.code)) return failure
  return { ...failure, details: [{ path: 'pem', message: failure.message }] }
}
