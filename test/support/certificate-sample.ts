import { randomFillSync } from 'node:crypto'

/** A certificate of `shop.example.com` and `www.example.com`, valid from 2026 to 2126. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBdTCCASegAwIBAgIUFbh1wcFSTJ1vS2XHKhmzpM6rTzwwBQYDK2VwMCoxDTAL
BgNVBAoMBFNob3AxGTAXBgNVBAMMEHNob3AuZXhhbXBsZS5jb20wIBcNMjYwMTAx
MDAwMDAwWhgPMjEyNjAxMDEwMDAwMDBaMCoxDTALBgNVBAoMBFNob3AxGTAXBgNV
BAMMEHNob3AuZXhhbXBsZS5jb20wKjAFBgMrZXADIQCTHwPqADIsWTuRlOLAcGiw
7k+I4z1a5AmHs8AjgRyGH6NdMFswDAYDVR0TAQH/BAIwADAdBgNVHQ4EFgQUTKD0
Fe88tpJiGCpNfpvFr8ORYP8wLAYDVR0RBCUwI4IQc2hvcC5leGFtcGxlLmNvbYIP
d3d3LmV4YW1wbGUuY29tMAUGAytlcANBAJ4lkXgzSgHqcqwmu1vPQWVBMdrszd1w
gTkLqutvB5u4XLpfSjuBXjn5q5doZ+0IwWwghQKAWejLwvRz1JM0xwo=
-----END CERTIFICATE-----
`

// The serial number has 20 bytes; the first one keeps it positive.
const SERIAL = { from: 16, to: 35 }

// As in the certificate: a GeneralizedTime.
const END = '21260101000000Z'

/**
 * The same certificate with another serial number, and so with another fingerprint; it ends in that year. Its signature is
 * invalid.
 */
export function freshCertificate(endYear = 2126): string {
  const der = Buffer.from(CERTIFICATE.replaceAll(/-----[A-Z ]+-----|\n/g, ''), 'base64')
  randomFillSync(der.subarray(SERIAL.from, SERIAL.to))
  der.write(String(endYear), der.indexOf(END))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
