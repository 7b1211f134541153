import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { errorCode, unusableFile } from '../../config/private-file.ts'

export interface TrustedCertificates {
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
