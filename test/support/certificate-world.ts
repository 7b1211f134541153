import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Certificates, type CertificateView } from '../../src/domains/certificates/index.ts'
import { CertificateDirectory } from '../../src/infra/files/certificate-directory.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { DAY } from '../../src/kernel/time.ts'
import type { CertificateFiles } from '../../src/ports/certificate-files.ts'
import type { DialectName } from '../../src/store/dialects/capabilities.ts'
import type { Store } from '../../src/store/store.ts'
import { fakeClock } from './clock.ts'
import { domainParts } from './domain-world.ts'
import { inTransactions, testStores } from './store.ts'

/** An event, as far as the tests look at it. */
interface SeenEvent {
  readonly type: string
  readonly certificate: CertificateView
  readonly step?: number
  readonly actor?: string
  readonly expiresFirst?: string
}

/** A bundle as `prepare` reads it from PEM; a test names what matters. */
export interface WantedFacts {
  readonly names?: readonly string[]
  readonly subject?: string
  readonly notBefore?: number
  readonly notAfter: number
  /** The ends of the chain. */
  readonly chain?: readonly number[]
  readonly fingerprintSha256?: string
  readonly pem?: string
}

/** The certificates of one process. */
function certificatesOf(store: Store, clock: Clock, files: CertificateFiles) {
  const events: SeenEvent[] = []
  const { record, deps } = domainParts(store, clock)
  const { alerts } = record
  const service = new Certificates({
    ...deps,
    files,
    events: {
      append: async (tx, { type, data }) => tx.afterCommit(() => events.push({ type, ...data })),
    },
  })
  const certificates = inTransactions(store, service, 'register', 'revoke', 'remove')
  const prepare = (wanted: WantedFacts, name = 'shop') => service.store(name, bundleOf(wanted, clock.now()))
  return {
    service,
    certificates,
    events,
    alerts,
    /** `certificate.expiring:…` and `certificate.file:…` without the fingerprints, with their severities. */
    alertLines: () => alerts.map(({ alarmId, severity }) => `${alarmId.split(':')[0]} ${severity}`),
    inspect: () => service.inspect(AbortSignal.timeout(300_000)),
    prepare,
    register: async (wanted: WantedFacts, name = 'shop', actor = 'ada') =>
      certificates.register(await prepare(wanted, name), actor),
  }
}

export function bundleOf(wanted: WantedFacts, now: number) {
  const { names = ['shop.example.com'], subject = 'CN=shop', notBefore = now - DAY, notAfter } = wanted
  const fingerprintSha256 = wanted.fingerprintSha256 ?? randomBytes(32).toString('hex')
  const chain = (wanted.chain ?? []).map((end, index) => ({
    fingerprintSha256: createHash('sha256').update(`${fingerprintSha256} ${index}`).digest('hex'),
    subject: `CN=issuer ${index}`,
    notAfter: end,
  }))
  const expiresFirst = [{ fingerprintSha256, notAfter }, ...chain].reduce((soonest, each) =>
    each.notAfter < soonest.notAfter ? each : soonest,
  )
  const facts = {
    fingerprintSha256,
    serial: '01',
    subject,
    issuer: 'CN=issuer 0',
    names,
    notBefore,
    notAfter,
    key: 'ec-p256',
    signature: 'ecdsa-with-SHA256',
    isCa: false,
    chain,
    warnings: [],
    endsAt: expiresFirst.notAfter,
    expiresFirst: expiresFirst.fingerprintSha256,
  }
  return { facts, pem: wanted.pem ?? `PEM of ${fingerprintSha256}\n` }
}

/** Certificates on an empty database; `another` are those of another process with the same database and directory. */
export async function certificateWorld(dialect: DialectName) {
  const clock = fakeClock()
  await using opening = new AsyncDisposableStack()
  const path = mkdtempSync(join(tmpdir(), 'platform-certs-'))
  opening.defer(() => rmSync(path, { recursive: true, force: true }))
  const { store, otherStore } = opening.use(await testStores(dialect, clock))
  const directory = join(path, 'certs')
  const files = new CertificateDirectory(directory)
  const opened = opening.move()
  return {
    clock,
    store,
    directory,
    files,
    ...certificatesOf(store, clock, files),
    another: certificatesOf(otherStore, clock, files),
    /** The certificates of a process with other files. */
    withFiles: (other: CertificateFiles) => certificatesOf(store, clock, other),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
