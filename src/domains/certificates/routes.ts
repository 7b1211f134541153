import { Type } from 'typebox'
import { NEWEST_FIRST } from '../../kernel/page.ts'
import type { Tx } from '../../store/store.ts'
import { bodyWriter, parseTime } from '../../wire/codec.ts'
import type { ErrorCodes } from '../../wire/error-codes.ts'
import { encodePage, PageOf, parsePage } from '../../wire/page.ts'
import { created, ok, type Route, routeOf } from '../../wire/route.ts'
import { IdParams } from '../../wire/schemas.ts'
import { refusePrivateKeys } from './private-keys.ts'
import {
  CertificateQuery,
  CertificateSchema,
  encodeCertificate,
  NewCertificateBody,
  RevocationBody,
} from './schemas.ts'
import type { Certificates } from './service.ts'
import { SOONEST_END_FIRST } from './store.ts'

const route = routeOf('Certificates')

/** Who may read the list and the events. */
export const CERTIFICATE_READERS = ['admin', 'devops', 'auditor'] as const
const OPERATORS = ['admin', 'devops'] as const
const ADMINS = ['admin'] as const

const PEM = 'application/x-pem-file'

export const CERTIFICATE_ERRORS = {
  invalid_certificate: { status: 400, meaning: 'The PEM cannot be read; the message names the block.' },
  private_key_refused: { status: 400, meaning: 'A text contains a private key; nothing of it was stored.' },
  certificate_not_found: { status: 404, meaning: 'There is no such certificate.' },
  certificate_exists: { status: 409, meaning: 'A certificate with this fingerprint is registered.' },
  certificate_busy: {
    status: 503,
    meaning: 'Another request works on the file of this certificate; retry.',
  },
  certificate_file_unavailable: {
    status: 503,
    meaning: 'The file of the certificate is missing or altered, or cannot be read or written.',
  },
} as const satisfies ErrorCodes

const {
  invalid_certificate,
  private_key_refused,
  certificate_not_found,
  certificate_exists,
  certificate_busy,
  certificate_file_unavailable,
} = CERTIFICATE_ERRORS

const textOf = bodyWriter(encodeCertificate)

/** docs/specification.md, Certificates */
export function certificateRoutes(certificates: Certificates): Route[] {
  return [
    route({
      method: 'POST',
      path: '/certificates',
      operation: 'registerCertificate',
      summary: 'Register a certificate with its chain',
      description:
        'The first certificate of the PEM is registered, the others are its chain. A request that contains a private key ' +
        'is refused, and nothing of it is stored. If the certificate is registered and its file is missing or altered, the ' +
        'same PEM writes the file again.',
      access: OPERATORS,
      body: NewCertificateBody,
      answers: {
        201: { description: 'The registered certificate.', schema: CertificateSchema },
        200: { description: 'The certificate, whose file was written again.', schema: CertificateSchema },
      },
      errors: {
        invalid_certificate,
        private_key_refused,
        certificate_exists,
        certificate_busy,
        certificate_file_unavailable,
      },
      prepare: ({ body }) => certificates.prepare(body),
      audit: { kind: 'certificate' },
      change: async (tx, { identity }, registration) => {
        const certificate = await certificates.register(tx, registration, identity.id)
        const body = textOf(certificate)
        return registration.file.isRepair ? ok(body) : created('/certificates', certificate.id, body)
      },
    }),
    route({
      method: 'GET',
      path: '/certificates',
      operation: 'listCertificates',
      summary: 'List certificates, newest first or by their end',
      access: CERTIFICATE_READERS,
      query: CertificateQuery,
      answers: { 200: { description: 'A page of certificates.', schema: PageOf(CertificateSchema) } },
      read: async ({ query }) => {
        const page = parsePage(query, query.sort === 'not_after' ? SOONEST_END_FIRST : NEWEST_FIRST)
        const { status, expires_before: before } = query
        const expiresBefore = before === undefined ? undefined : parseTime('expires_before', before)
        return ok(encodePage(await certificates.list({ status, expiresBefore }, page), encodeCertificate))
      },
    }),
    route({
      method: 'GET',
      path: '/certificates/:id',
      operation: 'getCertificate',
      summary: 'Read one certificate',
      access: CERTIFICATE_READERS,
      params: IdParams,
      answers: { 200: { description: 'The certificate.', schema: CertificateSchema } },
      errors: { certificate_not_found },
      read: async ({ params }) => ok(textOf(await certificates.get(params.id))),
    }),
    route({
      method: 'GET',
      path: '/certificates/:id/pem',
      operation: 'getCertificatePem',
      summary: 'Read one certificate with its chain, in PEM',
      access: CERTIFICATE_READERS,
      params: IdParams,
      answers: {
        200: {
          description: 'The certificate, then its chain, as they were registered, without text around them.',
          schema: Type.String(),
          contentType: PEM,
        },
      },
      errors: { certificate_not_found, certificate_file_unavailable },
      read: async ({ params }) => {
        const { certificate, pem } = await certificates.readPem(params.id)
        const fileName = `${certificate.fingerprintSha256}.pem`
        return ok(pem, { 'content-type': PEM, 'content-disposition': `attachment; filename="${fileName}"` })
      },
    }),
    route({
      method: 'POST',
      path: '/certificates/:id/revoke',
      operation: 'revokeCertificate',
      summary: 'Revoke a certificate; its alert recovers',
      description:
        'Marks the certificate in this registry; its issuer does not learn of it. A revoked one stays as it is.',
      access: OPERATORS,
      params: IdParams,
      body: RevocationBody,
      isBodyOptional: true,
      answers: { 200: { description: 'The revoked certificate.', schema: CertificateSchema } },
      errors: { certificate_not_found, private_key_refused },
      prepare: ({ body: { reason } }) => {
        refusePrivateKeys({ reason })
        return reason ?? null
      },
      audit: { kind: 'certificate', before: (tx, { params }) => stateOf(certificates, params.id, tx) },
      change: async (tx, { params, identity }, reason) =>
        ok(textOf(await certificates.revoke(tx, params.id, reason, identity.id))),
    }),
    route({
      method: 'DELETE',
      path: '/certificates/:id',
      operation: 'deleteCertificate',
      summary: 'Delete a certificate and its file; its alerts recover',
      access: ADMINS,
      params: IdParams,
      answers: { 204: { description: 'Deleted.' } },
      errors: { certificate_not_found },
      audit: { kind: 'certificate', before: (tx, { params }) => stateOf(certificates, params.id, tx) },
      change: async (tx, { params, identity }) => {
        await certificates.remove(tx, params.id, identity.id)
        return { status: 204 }
      },
      updateAnswer: async (answer) => {
        await certificates.waitForRemovals()
        return answer
      },
    }),
  ]
}

/** The certificate before the change, for the audit trail. */
async function stateOf(certificates: Certificates, id: string, tx: Tx): Promise<object> {
  return textOf(await certificates.get(id, tx))
}
