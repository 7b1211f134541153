import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CertificateFacts, CertificateWarning } from './model.ts'
import { readPem, writePem, isSignedBy, parseCertificate, type ParsedCertificate } from './x509.ts'
import { refusePrivateKeys } from './private-keys.ts'

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
    const signer = certificates.find((issuer) => isSignedBy(certificate, issuer))
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
  const expiresFirst = certificates.reduce((soonest, certificate) =>
    certificate.notAfter < soonest.notAfter ? certificate : soonest,
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
    chain: chain.map((member) => ({
      fingerprintSha256: member.fingerprintSha256,
      subject: member.subject,
      issuer: member.issuer,
      notAfter: member.notAfter,
    })),
    warnings: warningsOf({ certificates, links, expiresFirst }),
    endsAt: expiresFirst.notAfter,
    expiresFirst: expiresFirst.fingerprintSha256,
  }
}

interface ParsedBundle {
  readonly certificates: Certificates
  readonly links: readonly ChainLink[]
  readonly expiresFirst: ParsedCertificate
}

/** The rule of each warning, in the order in which they are listed. */
const WARNING_RULES: readonly (readonly [CertificateWarning, (judged: ParsedBundle) => boolean])[] = [
  ['weak_key', ({ certificates }) => certificates.some(({ isKeyWeak }) => isKeyWeak)],
  ['weak_signature', (judged) => hasWeakSignature(judged)],
  ['self_signed', ({ links }) => isSelfSigned(links[0])],
  ['ca_as_leaf', ({ certificates: [first] }) => first.isCa],
  ['chain_order', ({ links }) => chainOrder(links) === 'misordered'],
  ['chain_broken', ({ links }) => chainOrder(links) === 'broken'],
  ['chain_expires_first', ({ certificates: [first], expiresFirst }) => expiresFirst !== first],
]

function warningsOf(judged: ParsedBundle): CertificateWarning[] {
  return WARNING_RULES.filter(([, holds]) => holds(judged)).map(([warning]) => warning)
}

/** Whether a signature is weak. Clients verify that of the first certificate, but not that of a self-signed root. */
function hasWeakSignature({ certificates, links }: ParsedBundle): boolean {
  return certificates.some(
    ({ isSignatureWeak }, index) => isSignatureWeak && (index === 0 || !isSelfSigned(links[index])),
  )
}

function isSelfSigned(link: ChainLink | undefined): boolean {
  return link !== undefined && link.signer === link.holder
}

/** A certificate by its two parties, each a subject with its key. */
interface ChainLink {
  readonly holder: string
  /** Null when no certificate of the bundle has signed it. */
  readonly signer: string | null
}

/** Whether each certificate is signed by the next one; `misordered` when that is so in another order. */
type ChainOrder = 'unbroken' | 'misordered' | 'broken'

function chainOrder(links: readonly ChainLink[]): ChainOrder {
  const isUnbroken = links.every(({ signer }, index) => {
    const next = links[index + 1]
    return !next || signer === next.holder
  })
  if (isUnbroken) return 'unbroken'
  return hasUnbrokenOrder(links) ? 'misordered' : 'broken'
}

// The signers outside of the bundle count as one party: an unbroken chain has one at most.
const OUTSIDE = ''

/**
 * A certificate is an edge from its holder to its signer, and an unbroken chain is a path that has every edge once: an
 * Eulerian path. There is one if the edges are connected and no two of them must be the first one.
 */
function hasUnbrokenOrder(links: readonly ChainLink[]): boolean {
  const balances = new Map<string, number>()
  const add = (party: string, by: number) => balances.set(party, (balances.get(party) ?? 0) + by)
  for (const { holder, signer } of links) {
    add(holder, 1)
    add(signer ?? OUTSIDE, -1)
  }
  const starts = [...balances.values()].filter((balance) => balance > 0)
  return starts.reduce((sum, balance) => sum + balance, 0) <= 1 && isConnected(links)
}

function isConnected(links: readonly ChainLink[]): boolean {
  const reached = new Set(links.slice(0, 1).map(({ holder }) => holder))
  for (let before = 0; before < reached.size;) {
    before = reached.size
    for (const { holder, signer } of links) {
      const parties = [holder, signer ?? OUTSIDE]
      if (parties.some((party) => reached.has(party))) for (const party of parties) reached.add(party)
    }
  }
  return links.every(({ holder }) => reached.has(holder))
}
