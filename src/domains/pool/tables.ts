import { defineColumns, integer, text, schemaOf } from '../../store/columns.ts'
import type { AlertPercent } from './model.ts'

/** A pool that gateways lease from, by its CIDR. */
const pools = defineColumns({
  cidr: text(),
  /** The lowest address that never had a lease. */
  nextAddress: integer(),
  /** The threshold of the alert that is raised; 0 when none is. */
  alertedPercent: integer<AlertPercent>(),
})

/** An address that is leased, was leased, or is ready to be leased. */
export const leases = defineColumns({
  /** The four bytes as one number. */
  address: integer(),
  /** The CIDR of the pool that it belongs to. */
  pool: text(),
  /** The live session that holds it. */
  sessionId: text().nullable(),
  /** The last holder, who gets the address back; null for a session without a device. */
  userId: text().nullable(),
  device: text().nullable(),
  /** 0 until the first release. */
  releasedAt: integer(),
})

export const { changeRow, changeRows, db, names, readRow, readRows } = schemaOf({
  vpn_leases: leases,
  vpn_pools: pools,
})
