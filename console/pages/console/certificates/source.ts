import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'
import { CERTIFICATE_FILTERS, type Certificate } from './model.ts'

const PAGE_LENGTH = 50
const PREFIX = 'certificate.'

/** The certificates, first the one that ends next. */
export const certificateList: ListSource<Certificate> = {
  filters: CERTIFICATE_FILTERS,
  live,
  prefix: PREFIX,
  read: (query, signal) =>
    call('listCertificates', { query: { ...query, sort: 'not_after', limit: PAGE_LENGTH } }, signal),
  keyOf: ({ id }) => id,
  // A new certificate replaces others, which then have another status.
  fromEvent: () => 'changed',
}

/** One certificate. Another one may replace it, so that every event concerns it. */
export const certificateResource: ResourceSource<Certificate> = {
  live,
  prefix: PREFIX,
  read: (id, signal) => call('getCertificate', { path: { id } }, signal),
  isAbout: () => true,
}
