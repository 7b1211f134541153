import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  createSecureContext,
  type SecureContextOptions,
  getCACertificates,
  setDefaultCACertificates,
} from 'node:tls'
import { unusableFile, withFile } from '../../config/private-file.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errorMessage, errorCode } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/logger.ts'
import { DAY, SECOND, toRfc3339 } from '../../kernel/time.ts'
import { shellWord } from '../../kernel/text.ts'

/** The settings `<module>.tls`: both files, or neither. */
interface TlsFiles {
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
}

/** A certificate with its chain, its key, and what clients may choose. */
export type TlsContext = SecureContextOptions & { readonly cert: string; readonly key: string }

// Mozilla, Server Side TLS, "intermediate", without the suites for DHE: TLS 1.2 with forward secrecy and AEAD, and TLS 1.3.
const ACCEPTED = {
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
  ecdhCurve: 'X25519MLKEM768:X25519:prime256v1:secp384r1',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
} as const satisfies SecureContextOptions

// docs/specification.md, TLS
export const ENDS_SOON_MS = 14 * DAY
const CHECK_MS = 10 * SECOND
const MAX_BYTES = 1_048_576

/** Reads and checks both files; undefined if none is set. Throws a `ConfigError` that names the file and its setting. */
export function readTls(setting: string, { certFile, keyFile }: TlsFiles): TlsContext | undefined {
  if (certFile === undefined || keyFile === undefined) return undefined
  const cert = readPem(certFile, `${setting}.cert_file`)
  const key = readPem(keyFile, `${setting}.key_file`, 0o007)
  const context = { ...ACCEPTED, cert, key }
  expectThat(certFile, `${setting}.cert_file`, 'certificates in PEM, that of the server first', () => {
    endOf(context)
    createSecureContext({ cert })
  })
  const expected = `the key of the certificate in ${certFile}, in PEM and without a passphrase`
  expectThat(keyFile, `${setting}.key_file`, expected, () => {
    // OpenSSL compares only keys of one kind: it takes an RSA key beside a certificate for another one.
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
      throw new Error('the key of another certificate')
    createSecureContext(context)
  })
  return context
}

/** When the certificate of the server ends. */
export function endOf({ cert }: Pick<TlsContext, 'cert'>): number {
  return new X509Certificate(cert).validToDate.getTime()
}

/** `forbidden`: permissions that the file must not have. */
function readPem(path: string, key: string, forbidden = 0): string {
  try {
    return withFile(path, (file, { mode, size }) => {
      const fail = (expected: string, got: string) => unusableFile(path, key, expected, got)
      if ((mode & forbidden) !== 0)
        throw fail(
          `no access for others (run: chmod o= ${shellWord(path)})`,
          `mode ${(mode & 0o777).toString(8)}`,
        )
      if (size > MAX_BYTES) throw fail(`at most ${MAX_BYTES} bytes`, `${size} bytes`)
      return readFileSync(file, 'utf8')
    })
  } catch (error) {
    const code = errorCode(error)
    throw code === undefined ? error : unusableFile(path, key, 'a file that this user can read', code)
  }
}

/** The message of OpenSSL names the fault, and nothing of the key. */
function expectThat(path: string, key: string, expected: string, check: () => void): void {
  try {
    check()
  } catch (error) {
    throw unusableFile(path, key, expected, errorMessage(error))
  }
}

interface TlsCertificateOptions {
  /** Such as `api.tls`. */
  readonly setting: string
  readonly files: TlsFiles
  readonly clock: Clock
  readonly logger: Logger
  /** Takes the certificate for connections from now on. */
  readonly use: (context: TlsContext) => void
}

/** Keeps the certificate of a listener current: its files are read again every few seconds, and on SIGHUP. */
export class TlsCertificate implements Disposable {
  readonly #options: TlsCertificateOptions
  readonly #timer: NodeJS.Timeout
  #context: TlsContext
  /** The reason for which the files were last refused. */
  #refused: string | undefined
  #warnedAt = -Infinity
  readonly #onSignal = () => this.check()

  constructor(context: TlsContext, options: TlsCertificateOptions) {
    this.#context = context
    this.#options = options
    this.#timer = setInterval(this.#onSignal, CHECK_MS).unref()
    process.on('SIGHUP', this.#onSignal)
    this.#warnOfEnd()
  }

  /** Uses the files if they have changed; a pair that is not good leaves the former one in use, with one warning. */
  check(): void {
    const { setting, files, logger, use } = this.#options
    try {
      const read = readTls(setting, files)
      this.#refused = undefined
      if (read && (read.cert !== this.#context.cert || read.key !== this.#context.key)) {
        use(read)
        this.#context = read
        this.#warnedAt = -Infinity
        logger.info({ setting, ends_at: toRfc3339(endOf(read)) }, 'another certificate is used now')
      }
    } catch (error) {
      const reason = errorMessage(error)
      if (reason !== this.#refused) logger.warn({ setting, reason }, 'the former certificate stays in use')
      this.#refused = reason
    }
    this.#warnOfEnd()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    process.off('SIGHUP', this.#onSignal)
  }

  #warnOfEnd(): void {
    const { setting, clock, logger } = this.#options
    const end = endOf(this.#context)
    if (end - clock.now() > ENDS_SOON_MS || clock.monotonic() - this.#warnedAt < DAY) return
    this.#warnedAt = clock.monotonic()
    const fields = { setting, ends_at: toRfc3339(end) }
    if (end > clock.now()) logger.warn(fields, 'the certificate of this listener ends soon: replace it')
    else logger.error(fields, 'the certificate of this listener has ended, clients refuse it: replace it')
  }
}

interface TrustedCertificates {
  readonly apiCaFile?: string | undefined
  readonly apiUrl?: string | undefined
  readonly mirrorFrom?: string | undefined
}

/**
 * Makes this process trust the certificates of the system and of the file besides those of Node.js, if it calls an api over
 * https. For the whole process: the
 * client of the api and the mirror have no certificates of their own.
 */
export function trustCertificates({ apiCaFile, apiUrl, mirrorFrom }: TrustedCertificates): void {
  const isSecure = [apiUrl, mirrorFrom].some((url) => url?.startsWith('https:'))
  if (!isSecure && apiCaFile === undefined) return
  const given = apiCaFile === undefined ? [] : [readCertificates(apiCaFile)]
  setDefaultCACertificates([...getCACertificates('default'), ...getCACertificates('system'), ...given])
}

function readCertificates(path: string): string {
  try {
    const pem = readFileSync(path, 'utf8')
    new X509Certificate(pem)
    return pem
  } catch (error) {
    throw unusableFile(
      path,
      'gateway.api_ca_file',
      'certificates in PEM',
      errorCode(error) ?? 'something else',
    )
  }
}
