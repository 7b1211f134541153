import { declaredAlarmId } from '../../kernel/alerts.ts'
import type { Counter } from '../../kernel/metrics.ts'
import type { PlatformAlert } from '../../ports/alerts.ts'
import type { Tx } from '../../store/store.ts'
import type { CommandDeps } from './deps.ts'
import {
  COMMAND_ALERTS,
  DECISIONS,
  EXECUTION_STATUSES,
  isFinal,
  type ApprovalDecision,
  type ExecutionView,
  COMMAND_EVENTS,
  POLICY_ID,
} from './model.ts'
import type { PolicyChange } from './policy.ts'
import { listUnfinishedBefore } from './store.ts'

/** The fields of an execution that its alert shows. */
type AlertedExecution = Pick<ExecutionView, 'id' | 'commandId' | 'host' | 'status' | 'statusReason'>

/** What approvers are told of a request. */
interface ApprovalNotice {
  readonly about: 'requested' | 'decided'
  readonly title: string
  readonly lines: readonly string[]
}

/**
 * Records what happens to executions and to the policy: events and alerts in the transaction, counters and the log after its
 * commit.
 */
export class CommandJournal {
  readonly #deps: CommandDeps
  readonly #requested: Counter
  readonly #decided: Counter
  readonly #finished: Counter
  readonly #policyChanges: Counter

  constructor(deps: CommandDeps) {
    const { metrics } = deps
    this.#deps = deps
    this.#requested = metrics.counter({
      name: 'command_requests_total',
      help: 'Requested executions of commands.',
    })
    this.#decided = metrics.counter({
      name: 'command_decisions_total',
      help: 'Decisions on requests for commands.',
      labels: { decision: DECISIONS },
    })
    this.#finished = metrics.counter({
      name: 'command_executions_finished_total',
      help: 'Executions of commands that have finished, by status.',
      labels: { status: EXECUTION_STATUSES.filter(isFinal) },
    })
    this.#policyChanges = metrics.counter({
      name: 'command_policy_changes_total',
      help: 'Changes of the policy of commands.',
    })
  }

  async recordRequest(tx: Tx, execution: ExecutionView): Promise<void> {
    await this.#append(tx, 'requested', execution)
    this.#log(tx, execution, 'command requested', execution.requestedBy)
    tx.afterCommit(() => this.#requested.increment())
  }

  /** Queues the message in the transaction of the request, or of its decision. */
  async tellApprovers(tx: Tx, executionId: string, { about, title, lines }: ApprovalNotice): Promise<void> {
    const { notices, approvalReceivers, consoleUrl } = this.#deps
    if (approvalReceivers.length === 0) return
    await notices.tell(tx, approvalReceivers, {
      key: `command.${about}:${executionId}`,
      title,
      text: lines.join('\n'),
      ...(consoleUrl !== undefined && { url: `${consoleUrl}/console/executions/${executionId}` }),
    })
  }

  async recordDecision(
    tx: Tx,
    execution: ExecutionView,
    decision: ApprovalDecision,
    actor: string,
  ): Promise<void> {
    await this.#append(tx, 'decided', execution)
    this.#log(tx, execution, `command ${decision}`, actor)
    tx.afterCommit(() => {
      this.#decided.increment({ decision })
      if (isFinal(execution.status)) this.#finished.increment({ status: execution.status })
    })
  }

  async recordEnd(tx: Tx, execution: ExecutionView, actor: string): Promise<void> {
    await this.#append(tx, 'finished', execution)
    const alert = alertOf(execution)
    if (alert) await this.#deps.alerts.raise(tx, alert)
    if (execution.status === 'succeeded')
      for (const earlier of await listUnfinishedBefore(tx, execution))
        await this.recoverAlert(
          tx,
          earlier,
          `The execution ${execution.id} of the same command has succeeded.`,
        )
    this.#log(tx, execution, 'command finished', actor)
    tx.afterCommit(() => this.#finished.increment({ status: execution.status }))
  }

  /** Ends the alert of an execution that has ended without its result; does nothing for any other. */
  async recoverAlert(tx: Tx, execution: AlertedExecution, reason: string): Promise<void> {
    const alert = alertOf(execution)
    if (alert) await this.#deps.alerts.recoverIfRaised(tx, { ...alert, body: reason })
  }

  async recordPolicyChange(tx: Tx, change: PolicyChange): Promise<void> {
    const { events, logger } = this.#deps
    await events.append(tx, { type: COMMAND_EVENTS.policyChanged, subject: POLICY_ID, data: change })
    tx.afterCommit(() => {
      this.#policyChanges.increment()
      logger.info({ revision: change.revision, actor: change.actor }, 'policy of commands changed')
    })
  }

  async #append(tx: Tx, event: keyof typeof COMMAND_EVENTS, execution: ExecutionView): Promise<void> {
    await this.#deps.events.append(tx, {
      type: COMMAND_EVENTS[event],
      subject: execution.id,
      data: execution,
    })
  }

  #log(tx: Tx, { id, commandId, status, exitCode, signal }: ExecutionView, message: string, actor: string) {
    const fields = { execution_id: id, command_id: commandId, status, exit_code: exitCode, signal, actor }
    tx.afterCommit(() => this.#deps.logger.info(fields, message))
  }
}

/** The alert for an execution that has ended without its result; undefined for any other end. */
function alertOf(execution: AlertedExecution): PlatformAlert | undefined {
  const { id, commandId, host, status, statusReason } = execution
  const fixed = { source: 'platform.commands', severity: 'ERROR' } as const
  if (status === 'incomplete')
    return {
      ...fixed,
      alarmId: declaredAlarmId(COMMAND_ALERTS, 'command.incomplete:*', id),
      title: `The command ${commandId} did not run to its end`,
      body:
        `Its worker on ${host} was stopped or has died during the execution ${id}. It is not repeated. ` +
        'Check what it has done, and request it again if necessary.',
    }
  if (statusReason !== 'not_started') return undefined
  return {
    ...fixed,
    alarmId: declaredAlarmId(COMMAND_ALERTS, 'command.not_started:*', id),
    title: `The command ${commandId} was not started`,
    body:
      `No worker has begun the execution ${id} within commands.start_within, so it has expired. Check that a worker ` +
      'runs and has this command in its configuration, and request it again if necessary.',
  }
}
