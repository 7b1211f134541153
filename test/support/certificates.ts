import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const LIMIT = { timeout: 300_000 }

/** What to issue; the defaults make a good self-signed certificate of a year. */
export interface WantedCertificate {
  readonly subject?: string
  /** As in `subjectAltName`: `DNS:shop.example.com`, `IP:192.0.2.1`. */
  readonly names?: readonly string[]
  readonly isCa?: boolean
  /** Such as `digitalSignature`, which may not sign certificates. */
  readonly keyUsage?: string
  /** Options of `openssl genpkey`; see {@link KEYS}. */
  readonly key?: readonly string[]
  readonly digest?: string
  /** More options of `openssl ca`. */
  readonly options?: readonly string[]
  readonly from?: number
  readonly to?: number
  readonly signer?: IssuedCertificate
  /** Signs with the key of that one: a certificate for the same key. */
  readonly sameKeyAs?: IssuedCertificate
}

export interface IssuedCertificate {
  readonly pem: string
  readonly path: string
  readonly keyPath: string
}

const rsa = (bits: number) => ['-algorithm', 'RSA', '-pkeyopt', `rsa_keygen_bits:${bits}`]
const curve = (name: string) => ['-algorithm', 'EC', '-pkeyopt', `ec_paramgen_curve:${name}`]

export const KEYS = {
  rsa1024: rsa(1_024),
  rsa2048: rsa(2_048),
  rsa3072: rsa(3_072),
  rsa4096: rsa(4_096),
  p192: curve('prime192v1'),
  p256: curve('P-256'),
  p384: curve('P-384'),
  p521: curve('P-521'),
  ed25519: ['-algorithm', 'ED25519'],
} as const

const DAY_MS = 86_400_000
/** The first moment of the certificates, unless they name another. */
export const ISSUED_AT = Date.UTC(2026, 0, 1)

/** Issues certificates with `openssl`, in a directory that is removed at the end of the scope. */
export class CertificateAuthority implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'platform-certificates-'))
  readonly #keys = new Map<string, Promise<string>>()
  #issued = 0

  async issue(wanted: WantedCertificate = {}): Promise<IssuedCertificate> {
    const number = ++this.#issued
    const { subject = `/CN=certificate ${number}`, isCa = false, names = [], keyUsage, signer } = wanted
    const keyPath = wanted.sameKeyAs?.keyPath ?? (await this.#keyFor(wanted, number))
    const base = join(this.path, `certificate-${number}`)
    const path = `${base}.pem`
    writeFileSync(`${base}.cnf`, configuration(`${base}.index`, this.path, { isCa, names, keyUsage }))
    writeFileSync(`${base}.index`, '')
    const config = ['-config', `${base}.cnf`]
    await openssl([
      'req',
      '-new',
      '-utf8',
      ...config,
      '-key',
      keyPath,
      '-subj',
      subject,
      '-out',
      `${base}.csr`,
    ])
    const signing = signer
      ? ['-cert', signer.path, '-keyfile', signer.keyPath]
      : ['-selfsign', '-keyfile', keyPath]
    const { from = ISSUED_AT, to = from + 365 * DAY_MS } = wanted
    const times = ['-startdate', generalizedTime(from), '-enddate', generalizedTime(to)]
    const digest = ['-md', wanted.digest ?? 'default']
    const more = [...(wanted.options ?? []), '-in', `${base}.csr`, '-out', path]
    await openssl(['ca', '-batch', '-notext', ...config, ...signing, ...times, ...digest, ...more])
    return { pem: readFileSync(path, 'utf8'), path, keyPath }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }

  /** Large keys take seconds, so each kind of RSA key is made once. */
  #keyFor({ key = KEYS.p256, subject }: WantedCertificate, number: number): Promise<string> {
    const name = key.includes('RSA') ? key.join() : `${key.join()} ${subject ?? number}`
    return this.#keys.getOrInsertComputed(name, async () => {
      const path = join(this.path, `key-${this.#keys.size}.pem`)
      await openssl(['genpkey', ...key, '-out', path])
      return path
    })
  }
}

/** Runs `openssl`, and returns what it prints. */
export async function openssl(args: readonly string[]): Promise<string> {
  const { stdout } = await run('openssl', args, LIMIT)
  return stdout
}

function configuration(
  database: string,
  directory: string,
  { isCa, names, keyUsage }: { isCa: boolean; names: readonly string[]; keyUsage?: string | undefined },
): string {
  return [
    '[ca]',
    'default_ca = authority',
    '[authority]',
    `database = ${database}`,
    `new_certs_dir = ${directory}`,
    'policy = any',
    'x509_extensions = extensions',
    'unique_subject = no',
    'rand_serial = yes',
    'preserve = yes',
    '[any]',
    ...['countryName', 'organizationName', 'commonName'].map((name) => `${name} = optional`),
    '[extensions]',
    `basicConstraints = critical, CA:${isCa ? 'TRUE' : 'FALSE'}`,
    ...(keyUsage === undefined ? [] : [`keyUsage = critical, ${keyUsage}`]),
    'subjectKeyIdentifier = hash',
    ...(names.length > 0 ? [`subjectAltName = ${names.join(', ')}`] : []),
    '[req]',
    'distinguished_name = subject',
    '[subject]',
    '',
  ].join('\n')
}

/** `20260131020000Z` */
function generalizedTime(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:T]|\.\d+/g, '')
}
