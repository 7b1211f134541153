import { hash } from 'node:crypto'
import { root } from '../runtime.mjs'
import { runToEnd } from './run-to-end.ts'

interface CycloneDx {
  serialNumber?: string
  readonly metadata: { timestamp?: string }
}

const NPM_SBOM = [
  'sbom',
  '--package-lock-only',
  '--omit=dev',
  '--sbom-format=cyclonedx',
  '--sbom-type=application',
]

/**
 * The packages in the executable, as npm lists them in the format CycloneDX. The number of the document is derived from
 * its content, and it has no time: two builds have the same one.
 */
export function billOfMaterials(): string {
  const document = JSON.parse(runToEnd('npm', NPM_SBOM, { cwd: root })) as CycloneDx
  delete document.serialNumber
  delete document.metadata.timestamp
  return `${JSON.stringify({ ...document, serialNumber: urn(JSON.stringify(document)) }, null, 2)}\n`
}

/** A UUID of version 8, RFC 9562: its value is derived from a text. */
function urn(text: string): string {
  const digits = hash('sha256', text)
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `8${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ]
  return `urn:uuid:${parts.join('-')}`
}
