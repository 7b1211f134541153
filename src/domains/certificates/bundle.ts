import { setImmediate as nextTurn } from 'node:timers/promises'
import { chainOrder, type ChainLink } from './chain.ts'
import type { CertificateFacts, CertificateWarning } from './model.ts'
import { readPem, writePem } from './pem.ts'
import { refusePrivateKeys } from './private-keys.ts'
import { isSignedBy, parseCertificate, type ParsedCertificate } from './x509.ts'

/** A certificate with its chain, as a client has sent them. */
export interface CertificateBundle {
  readonly facts: CertificateFacts
  /** The certificates in PEM, without the text around them. */
  readonly pem: string
}

/**
 * Reads a certificate and its chain, the certificate first. Rejects with `private_key_refused`, and with
 * `invalid_certificate`. Neither quotes the text.
 */
export async function readBundle(pem: string): Promise<CertificateBundle> {
  refusePrivateKeys({ pem })
  const blocks = readPem(pem)
  const certificates = blocks.map((der, index) => parseCertificate(der, index + 1))
  const links = await linksOf(certificates)
  return { facts: factsOf(certificates as [ParsedCertificate], links), pem: writePem(blocks) }
}

/** Verifying signatures of unusual keys takes milliseconds each, so other work has its turn in between. */
async function linksOf(certificates: readonly ParsedCertificate[]): Promise<ChainLink[]> {
  const links: ChainLink[] = []
  for (const certificate of certificates) {
    const signer = certificates.find((each) => isSignedBy(certificate, each))
    links.push({ holder: certificate.holder, signer: signer?.holder ?? null })
    await nextTurn()
  }
  return links
}

type Certificates = readonly [ParsedCertificate, ...ParsedCertificate[]]

function factsOf(certificates: Certificates, links: readonly ChainLink[]): CertificateFacts {
  const [first, ...chain] = certificates
  const { fingerprintSha256, serial, subject, issuer, names, notBefore, notAfter, key, signature, isCa } =
    first
  const expiresFirst = certificates.reduce((soonest, each) =>
    each.notAfter < soonest.notAfter ? each : soonest,
  )
  return {
    fingerprintSha256,
    serial,
    subject,
    issuer,
    names,
    notBefore,
    notAfter,
    key,
    signature,
    isCa,
    chain: chain.map((each) => ({
      fingerprintSha256: each.fingerprintSha256,
      subject: each.subject,
      issuer: each.issuer,
      notAfter: each.notAfter,
    })),
    warnings: warningsOf({ certificates, links, expiresFirst }),
    endsAt: expiresFirst.notAfter,
    expiresFirst: expiresFirst.fingerprintSha256,
  }
}

interface Judged {
  readonly certificates: Certificates
  readonly links: readonly ChainLink[]
  readonly expiresFirst: ParsedCertificate
}

/** The rule of each warning, in the order in which they are listed. */
const WARNING_RULES: readonly (readonly [CertificateWarning, (judged: Judged) => boolean])[] = [
  ['weak_key', ({ certificates }) => certificates.some(({ isKeyWeak }) => isKeyWeak)],
  ['weak_signature', (judged) => hasWeakSignature(judged)],
  ['self_signed', ({ links }) => isSelfSigned(links[0])],
  ['ca_as_leaf', ({ certificates: [first] }) => first.isCa],
  ['chain_order', ({ links }) => chainOrder(links) === 'misordered'],
  ['chain_broken', ({ links }) => chainOrder(links) === 'broken'],
  ['chain_expires_first', ({ certificates: [first], expiresFirst }) => expiresFirst !== first],
]

function warningsOf(judged: Judged): CertificateWarning[] {
  return WARNING_RULES.filter(([, holds]) => holds(judged)).map(([warning]) => warning)
}

/** Clients verify the signature of the first certificate, and not the one of a root that its own key has made. */
function hasWeakSignature({ certificates, links }: Judged): boolean {
  return certificates.some(
    ({ isSignatureWeak }, index) => isSignatureWeak && (index === 0 || !isSelfSigned(links[index])),
  )
}

function isSelfSigned(link: ChainLink | undefined): boolean {
  return link !== undefined && link.signer === link.holder
}
