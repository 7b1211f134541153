import type { AuditRecord } from '../kernel/audit.ts'
import type { Tx } from '../store/store.ts'

/** The audit trail (docs/specification.md, Audit). */
export interface AuditTrail {
  /** Writes a record in the transaction of the change. */
  record(tx: Tx, record: AuditRecord): Promise<void>
  /**
   * Writes a record of what had no transaction, such as a refusal. It resolves when the record is written; one that cannot be
   * written is logged. Above a limit records are counted, and the next one that is written says how many were left out.
   */
  note(record: AuditRecord): Promise<void>
}
