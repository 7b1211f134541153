import { CERTIFICATE_FILTERS } from './model.ts'
import { listOf, resourceOf } from '../sources.ts'

const PREFIX = 'certificate.'

/** The certificates; the one that ends next is first. */
export const certificateList = listOf('listCertificates', PREFIX, {
  filters: CERTIFICATE_FILTERS,
  query: { sort: 'not_after' },
  sorts: [
    { value: '', column: 'not_after', direction: 'ascending' },
    { value: 'created_at', column: 'created_at', direction: 'descending' },
  ],
  keyOf: ({ id }) => id,
  // A new certificate replaces others, which then have another status.
  fromEvent: () => 'changed',
})

/** One certificate, read again after the event of any certificate, because another one may replace it. */
export const certificateResource = resourceOf('getCertificate', PREFIX, (id) => ({ path: { id } }))
