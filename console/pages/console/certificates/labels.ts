import { isolateText } from '../../../i18n/isolate-text.ts'
import { hasWrongChain, type Certificate } from './model.ts'
import { certificateWords } from './words.ts'

/** The words for the status; a wrong chain is named instead of a status such as "valid". */
export function statusLabel(certificate: Pick<Certificate, 'status' | 'warnings'>): string {
  const { statuses, wrongChain } = certificateWords()
  return hasWrongChain(certificate) ? wrongChain : statuses[certificate.status]
}

type Warning = Certificate['warnings'][number]

/** The words for a warning. A warning about the chain also names which certificate is missing in it. */
export function warningText({ issuer, chain: [next] }: Certificate, warning: Warning): string {
  const { warnings, missingSigner } = certificateWords()
  const isOfChain = warning === 'chain_broken' || warning === 'chain_order'
  if (!isOfChain || !next || next.subject === issuer) return warnings[warning]
  return `${warnings[warning]} ${missingSigner(isolateText(issuer), isolateText(next.subject))}`
}
