import type { Role } from '../../kernel/identity.ts'
import { CLOCK_DIFFERENCE_MS, isDueAt } from '../../kernel/time.ts'
import type { Tx } from '../../store/store.ts'
import type { CommandDeps } from './deps.ts'
import type { CommandJournal } from './journal.ts'
import { STATUS_OF_REASON, type StatusReason, type WaitingExecution } from './model.ts'
import { mayDecide, mayRun, presentRoles } from './policy.ts'
import { endWaiting, findExecution, readPolicy } from './store.ts'

/** A rule: whether it ends a waiting execution. The first one that does gives the reason. */
type Rule = (tx: Tx, execution: WaitingExecution) => Promise<boolean> | boolean

/** Ends waiting executions that must not begin, with the event of their end (docs/specification.md, Commands). */
export class StartRules {
  readonly #deps: CommandDeps
  readonly #journal: CommandJournal
  readonly #rules: readonly (readonly [StatusReason, Rule])[] = [
    ['not_started', (_tx, execution) => this.#isOverdue(execution)],
    ['no_longer_allowed', (tx, execution) => this.#isRefused(tx, execution)],
  ]

  constructor(deps: CommandDeps, journal: CommandJournal) {
    this.#deps = deps
    this.#journal = journal
  }

  /** When an execution that is queued at that time expires without a start. */
  expiryOf(queuedAt: number): number {
    return queuedAt + this.#deps.startWithinMs
  }

  /**
   * The limits of waiting: a request queued at `before` or earlier has waited too long; one queued after the second time
   * was queued before the clock was set back.
   */
  get queueLimits(): { readonly before: number; readonly after: number } {
    const now = this.#deps.clock.now()
    return { before: now - this.#deps.startWithinMs, after: now + CLOCK_DIFFERENCE_MS }
  }

  /** Returns the reason for which it has ended the execution; undefined if the execution may go on. */
  async endUnlessAllowed(tx: Tx, execution: WaitingExecution): Promise<StatusReason | undefined> {
    for (const [reason, applies] of this.#rules)
      if (await applies(tx, execution)) {
        await this.end(tx, execution, reason)
        return reason
      }
    return undefined
  }

  /** Compare-and-set: does nothing when the status of the execution has changed. */
  async end(
    tx: Tx,
    { id, status }: Pick<WaitingExecution, 'id' | 'status'>,
    reason: StatusReason,
  ): Promise<boolean> {
    const finishedAt = this.#deps.clock.now()
    const end = { id, status: STATUS_OF_REASON[reason], statusReason: reason, cancelledBy: null, finishedAt }
    if (!(await endWaiting(tx, status, end))) return false
    const ended = await findExecution(tx, id)
    if (ended) await this.#journal.recordEnd(tx, ended, 'platform')
    return true
  }

  #isOverdue({ status, queuedAt }: WaitingExecution): boolean {
    const { clock, startWithinMs } = this.#deps
    return status === 'queued' && isDueAt(this.expiryOf(queuedAt), clock.now(), startWithinMs)
  }

  /** Whether its requester is no longer allowed to run the command, or its approver to decide on it. */
  async #isRefused(
    tx: Tx,
    { commandId, requestedBy, requesterRoles, approvals }: WaitingExecution,
  ): Promise<boolean> {
    const policy = await readPolicy(tx)
    const rolesOf = async (id: string, rolesThen: readonly Role[] | null | undefined) =>
      presentRoles(await this.#deps.findAccount(id, tx), rolesThen)
    if (!mayRun(policy, commandId, await rolesOf(requestedBy, requesterRoles))) return true
    for (const { by, roles } of approvals)
      if (!mayDecide(policy, commandId, await rolesOf(by, roles))) return true
    return false
  }
}
