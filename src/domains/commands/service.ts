import { isDeepStrictEqual } from 'node:util'
import type { Command } from '../../kernel/command.ts'
import {
  AppError,
  invalidField,
  invalidMove,
  requireFound,
  requireMove,
  requireVersion,
} from '../../kernel/errors.ts'
import type { Identity, Role } from '../../kernel/identity.ts'
import { newId } from '../../kernel/ids.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { toRfc3339 } from '../../kernel/time.ts'
import type { Queries, Tx } from '../../store/store.ts'
import { queuedWork } from '../../store/work/work-queue.ts'
import type { AnyCommand } from './catalogue.ts'
import type { CommandParts } from './parts.ts'
import {
  EXECUTION_MOVES,
  NOT_STARTED,
  type ApprovalDecision,
  type DescribedExecution,
  type Execution,
  type ExecutionRequest,
  type ExecutionStatus,
  type ExecutionView,
} from './model.ts'
import { checkParameters, describeRun, hasValues } from './parameters.ts'
import {
  approvalOf,
  approversOf,
  explainAccess,
  isOwnRequest,
  mayCancel,
  mayDecide,
  mayRead,
  mayReadAll,
  mayRun,
  type AccessExplanation,
  type Policy,
} from './policy.ts'
import {
  addPolicy,
  approve,
  cancelIfRunning,
  endWaiting,
  findExecution,
  insertExecution,
  listExecutions,
  listPolicies,
  lockFor,
  readableFor,
  readPolicy,
  reject,
  type ExecutionFilter,
} from './store.ts'

/** What a request would do. */
export interface DryRun extends Pick<Command, 'approval' | 'timeoutMs'> {
  /** The program with its arguments, or the id of a built-in command. */
  readonly wouldRun: readonly string[]
}

// docs/specification.md, Overview
const AWAITING_LIMIT = 1_000

/** The requests for commands, the decisions on them, and the policy. Nothing is run here. */
export class Commands {
  readonly #deps: CommandParts
  readonly #wake: () => void

  /** `wake` announces queued executions; called after a commit. */
  constructor(deps: CommandParts, wake: () => void) {
    this.#deps = deps
    this.#wake = wake
  }

  /**
   * Lists commands by id, each with the approval that the policy requires: those that the caller may run, or with
   * `includesOthers` all of them. Rejects with `forbidden` if `includesOthers` is set and the caller is no admin or auditor.
   */
  async list(identity: Identity, page: PageRequest<'id'>, includesOthers = false): Promise<Page<AnyCommand>> {
    if (includesOthers && !mayReadAll(identity))
      throw new AppError('forbidden', 'forbidden', 'Only the roles admin and auditor may list all commands.')
    const policy = await readPolicy(this.#deps.store.read)
    const isListed = ({ id }: AnyCommand) => includesOthers || mayRun(policy, id, identity)
    const { items, next } = this.#deps.catalogue.page(isListed, page)
    return { items: items.map((command) => withPolicy(command, policy)), next }
  }

  /** Why a user may, or may not, run a command. Rejects with `command_not_found` and `user_not_found`. */
  async explain(commandId: string, userId: string): Promise<AccessExplanation> {
    const { catalogue, store, findAccount } = this.#deps
    catalogue.get(commandId)
    const account = requireFound(await findAccount(userId, store.read), 'user', userId)
    return explainAccess(await readPolicy(store.read), commandId, account)
  }

  /** Checks a request as {@link Commands.request} does, except for its reason. */
  async dryRun(
    queries: Queries,
    commandId: string,
    { params }: ExecutionRequest,
    identity: Identity,
  ): Promise<DryRun> {
    const command = await this.#requireRunnable(queries, commandId, identity)
    const { approval, timeoutMs } = command
    const { redacted } = checkParameters(command.params, params)
    return { wouldRun: describeRun(command, redacted), approval, timeoutMs }
  }

  /**
   * Requests an execution: it is queued, or waits for an approval. Rejects with `command_not_found`, with `forbidden` if
   * the policy does not allow it, and with `validation_failed` for wrong parameters or a missing reason.
   */
  async request(
    tx: Tx,
    commandId: string,
    { params, reason }: ExecutionRequest,
    identity: Identity,
  ): Promise<ExecutionView> {
    const { clock, journal, secrets, approvalTtlMs, rules } = this.#deps
    const command = await this.#requireRunnable(tx, commandId, identity)
    const checked = checkParameters(command.params, params)
    const needsApproval = command.approval === 'two_person'
    if (needsApproval && !reason?.trim()) throw invalidField('reason', 'reason_required')
    const createdAt = clock.now()
    const execution: ExecutionView = {
      ...NOT_STARTED,
      id: newId(),
      commandId,
      params: checked.redacted,
      reason,
      requestedBy: identity.id,
      requesterRoles: await this.#rolesWithoutUser(tx, identity),
      status: needsApproval ? 'awaiting_approval' : 'queued',
      createdAt,
      expiresAt: needsApproval ? createdAt + approvalTtlMs : rules.expiryOf(createdAt),
    }
    const sealed = secrets.seal(execution.id, checked.secrets)
    await insertExecution(tx, { ...execution, ...queuedWork(createdAt), secrets: sealed })
    await journal.recordRequest(tx, execution)
    if (needsApproval)
      await journal.tellApprovers(tx, execution.id, {
        about: 'requested',
        title: `${identity.name} asks to run ${commandId}`,
        lines: [
          `Would run: ${describeRun(command, checked.redacted).map(quoteArgument).join(' ')}`,
          `Reason: ${reason}`,
          `It expires without a decision at ${toRfc3339(execution.expiresAt ?? createdAt)}.`,
        ],
      })
    else tx.afterCommit(this.#wake)
    return execution
  }

  /** Newest first; only executions that the caller may read. */
  async executions(
    filter: Omit<ExecutionFilter, 'readable'>,
    page: PageRequest,
    identity: Identity,
  ): Promise<Page<ExecutionView>> {
    const { store, catalogue } = this.#deps
    if (mayReadAll(identity)) return listExecutions(store.read, filter, page)
    const policy = await readPolicy(store.read)
    const ids = catalogue.ids.filter((id) => mayRun(policy, id, identity) || mayDecide(policy, id, identity))
    return listExecutions(store.read, { ...filter, readable: readableFor(ids, identity.id) }, page)
  }

  /** The executions that wait for an approval and that the caller may read, newest first; at most 1,000. */
  async awaitingApproval(identity: Identity): Promise<readonly ExecutionView[]> {
    const page = await this.executions({ status: 'awaiting_approval' }, { limit: AWAITING_LIMIT }, identity)
    return page.items
  }

  /** Rejects with `execution_not_found`, and with `forbidden` if the policy does not let the caller read it. */
  async execution(id: string, identity: Identity): Promise<ExecutionView> {
    const { read } = this.#deps.store
    const execution = await requireExecution(read, id)
    if (!mayRead(await readPolicy(read), execution, identity)) throw forbiddenError('read this execution')
    return execution
  }

  /** An execution whatever its reader may, for the audit trail. Rejects with `execution_not_found`. */
  executionBefore(tx: Tx, id: string): Promise<ExecutionView> {
    return requireExecution(tx, id)
  }

  /** Adds to executions what they run, and who decides on them. */
  async describer(
    queries: Queries = this.#deps.store.read,
  ): Promise<(execution: ExecutionView) => DescribedExecution> {
    const policy = await readPolicy(queries)
    return (execution) => {
      const { commandId, status, params } = execution
      const command = this.#deps.catalogue.find(commandId)
      const isAwaiting = status === 'awaiting_approval'
      const isKnown = command && isAwaiting && hasValues(command.params, params)
      return {
        ...execution,
        title: command?.title ?? null,
        wouldRun: isKnown ? describeRun(command, params) : null,
        approvers: isAwaiting ? approversOf(policy, commandId) : null,
      }
    }
  }

  /**
   * Approves or rejects a request. A request whose caller is no longer allowed to run the command is cancelled instead of
   * approved: see `statusReason`. Rejects with `execution_not_found`, with `own_request` for the caller's own request, with `forbidden`
   * if the caller is no approver, and with `invalid_transition` if it does not wait for an approval.
   */
  async decide(
    tx: Tx,
    id: string,
    decision: ApprovalDecision,
    comment: string | null,
    identity: Identity,
  ): Promise<ExecutionView> {
    const execution = await requireExecution(tx, id)
    if (isOwnRequest(execution, identity))
      throw new AppError('forbidden', 'own_request', 'Another person has to decide on your own request.')
    if (!mayDecide(await readPolicy(tx), execution.commandId, identity))
      throw forbiddenError('decide on this command')
    const status = decision === 'approved' ? 'queued' : 'rejected'
    requireMove('An execution', EXECUTION_MOVES, execution.status, status)
    if (status === 'queued') {
      const ended = await this.#endUnlessAllowed(tx, execution)
      if (ended) {
        await this.#tellDecision(tx, execution, 'cancelled, for it is not allowed any more', null)
        return ended
      }
    }
    const at = this.#deps.clock.now()
    const roles = await this.#rolesWithoutUser(tx, identity)
    const approvals = [...execution.approvals, { at, by: identity.id, decision, comment, roles }]
    const record = { id, status, approvals, at } as const
    const isRecorded =
      status === 'queued'
        ? await approve(tx, record, this.#deps.rules.expiryOf(at))
        : await reject(tx, record)
    if (!isRecorded) throw await this.#lostDecision(tx, id, status, at)
    const decided = await requireExecution(tx, id)
    await this.#deps.journal.recordDecision(tx, decided, decision, identity.id)
    await this.#tellDecision(tx, execution, `${decision} by ${identity.name}`, comment)
    if (status === 'queued') tx.afterCommit(this.#wake)
    return decided
  }

  /**
   * Cancels a queued execution at once, and asks the worker to end a running one; a run that is being cancelled stays as it
   * is. Rejects with `execution_not_found`, `forbidden` and `invalid_transition`.
   */
  async cancel(tx: Tx, id: string, identity: Identity): Promise<ExecutionView> {
    const execution = await requireExecution(tx, id)
    if (!mayCancel(await readPolicy(tx), execution, identity)) throw forbiddenError('cancel this execution')
    const finishedAt = this.#deps.clock.now()
    const end = { id, status: 'cancelled', statusReason: null, cancelledBy: identity.id, finishedAt } as const
    if (await endWaiting(tx, 'queued', end)) {
      const cancelled = await requireExecution(tx, id)
      await this.#deps.journal.recordEnd(tx, cancelled, identity.id)
      return cancelled
    }
    await cancelIfRunning(tx, id, identity.id)
    const current = await requireExecution(tx, id)
    if (current.status !== 'running') throw refusedMove(current, 'cancelled')
    return current
  }

  /** The policy in force. */
  policy(queries: Queries = this.#deps.store.read): Promise<Policy> {
    return readPolicy(queries)
  }

  /** Every change, newest first. */
  policyHistory(page: PageRequest) {
    return listPolicies(this.#deps.store.read, {}, page)
  }

  /**
   * Replaces the whole policy, with effect on every later call. The same rules change nothing. Rejects with
   * `validation_failed` for an unknown command, and with `precondition_failed` if the policy has none of the
   * `expectedRevisions`.
   */
  async setPolicy(
    tx: Tx,
    rules: Policy['rules'],
    actor: string,
    expectedRevisions?: readonly number[],
  ): Promise<Policy> {
    this.#requireCommands(rules)
    await lockFor(tx, 'policy')
    const current = await readPolicy(tx)
    requireVersion(current.revision, expectedRevisions, 'policy')
    if (isDeepStrictEqual(current.rules, rules)) return current
    const policy = { revision: current.revision + 1, rules }
    const change = { ...policy, actor, at: this.#deps.clock.now() }
    await addPolicy(tx, change)
    await this.#deps.journal.recordPolicyChange(tx, change)
    return policy
  }

  /** A command that the policy allows the caller to run. */
  async #requireRunnable(queries: Queries, commandId: string, identity: Identity): Promise<AnyCommand> {
    const command = this.#deps.catalogue.get(commandId)
    const policy = await readPolicy(queries)
    if (!mayRun(policy, commandId, identity)) throw forbiddenError('run this command')
    return withPolicy(command, policy)
  }

  #requireCommands(rules: Policy['rules']): void {
    const unknown = Object.keys(rules).find((id) => !this.#deps.catalogue.find(id))
    if (unknown !== undefined) throw invalidField(`rules.${unknown.slice(0, 200)}`, 'unknown_command')
  }

  async #tellDecision(
    tx: Tx,
    { id, commandId, requestedBy }: ExecutionView,
    outcome: string,
    comment: string | null,
  ): Promise<void> {
    const { findAccount, journal } = this.#deps
    const name = (await findAccount(requestedBy, tx))?.name ?? requestedBy
    await journal.tellApprovers(tx, id, {
      about: 'decided',
      title: `The request of ${name} to run ${commandId} was ${outcome}`,
      lines: comment === null ? [] : [`Comment: ${comment}`],
    })
  }

  /** The roles of a caller that is no user; null for a user, whose roles are read again later. */
  async #rolesWithoutUser(tx: Tx, { id, roles }: Identity): Promise<readonly Role[] | null> {
    return (await this.#deps.findAccount(id, tx)) ? null : roles
  }

  /** Undefined when the request may be approved. */
  async #endUnlessAllowed(tx: Tx, execution: ExecutionView): Promise<ExecutionView | undefined> {
    const waiting = { ...execution, status: 'awaiting_approval', queuedAt: execution.createdAt } as const
    if (!(await this.#deps.rules.endUnlessAllowed(tx, waiting))) return undefined
    const ended = await requireExecution(tx, execution.id)
    if (!ended.statusReason) throw refusedMove(ended, 'queued')
    return ended
  }

  /** The request was decided, or has expired, between its read and the change. */
  async #lostDecision(tx: Tx, id: string, status: ExecutionStatus, now: number): Promise<AppError> {
    const current = await requireExecution(tx, id)
    const isTooOld = current.status === 'awaiting_approval' && (current.expiresAt ?? 0) <= now
    return refusedMove(isTooOld ? { ...current, status: 'expired' } : current, status)
  }
}

/** An argument, in quotes if it would not be visible as one argument otherwise. */
function quoteArgument(argument: string): string {
  return /^[\w./:=@%+,-]+$/.test(argument) ? argument : JSON.stringify(argument)
}

function withPolicy<C extends AnyCommand>(command: C, policy: Policy): C {
  return { ...command, approval: approvalOf(policy, command) }
}

async function requireExecution(queries: Queries, id: string): Promise<ExecutionView> {
  return requireFound(await findExecution(queries, id), 'execution', id)
}

function forbiddenError(action: string): AppError {
  return new AppError('forbidden', 'forbidden', `The policy of commands does not allow you to ${action}.`)
}

function refusedMove({ status }: Pick<Execution, 'status'>, to: ExecutionStatus): AppError {
  return invalidMove('An execution', status, to, EXECUTION_MOVES[status])
}
