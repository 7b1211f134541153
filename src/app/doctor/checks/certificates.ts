import { fault, fine, skipped, warning, type Check, type CertificateCounts } from '../check.ts'

const REMEDY = 'GET /certificates shows them; replace them'

/** The registered certificates. */
export const certificatesCheck: Check = {
  name: 'certificates',
  run: async ({ database }) => {
    const counts = (await database().catch(() => undefined))?.certificates
    if (!counts) return [skipped('registry', 'needs the database')]
    const [expired, expiring, all] = [['expired'], ['expiring'], undefined].map((statuses) =>
      sum(counts, statuses),
    ) as [number, number, number]
    if (all === 0) return [skipped('registry', 'no certificate is registered')]
    const detail = `${all} registered, ${expiring} end soon, ${expired} have ended`
    if (expired > 0) return [fault('registry', detail, REMEDY)]
    return [expiring > 0 ? warning('registry', detail, REMEDY) : fine('registry', detail)]
  },
}

function sum(counts: CertificateCounts, statuses: readonly string[] | undefined): number {
  return counts
    .filter(({ status }) => statuses?.includes(status) ?? true)
    .reduce((total, { certificates }) => total + certificates, 0)
}
