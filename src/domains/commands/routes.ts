import { ROLES } from '../../kernel/identity.ts'
import type { JsonText } from '../../kernel/text.ts'
import type { Tx } from '../../store/store.ts'
import { bodyWriter } from '../../wire/codec.ts'
import { entityTag, parseIfMatch } from '../../wire/entity-tag.ts'
import { SHARED_ERRORS, type ErrorCodes } from '../../wire/error-codes.ts'
import { EVENT_STREAM } from '../../wire/event-stream.ts'
import { encodePage, PageOf, parsePage, TimedQuery } from '../../wire/page.ts'
import { ok, type Answer, type Route, routeOf, versioned } from '../../wire/route.ts'
import { IdParams } from '../../wire/schemas.ts'
import { BY_ID } from './catalogue.ts'
import type { ApprovalDecision, ExecutionView } from './model.ts'
import type { OutputStreams } from './output-stream.ts'
import type { Policy } from './policy.ts'
import {
  AccessQuery,
  AccessSchema,
  CommandParams,
  CommandQuery,
  CommandSchema,
  DecisionBody,
  DryRunSchema,
  encodeAccess,
  encodeCommand,
  encodeDryRun,
  encodeExecution,
  encodePolicy,
  encodePolicyChange,
  ExecuteBody,
  ExecutionQuery,
  ExecutionSchema,
  OutputEvents,
  PolicyBody,
  PolicyChangeSchema,
  PolicySchema,
} from './schemas.ts'
import type { Commands } from './service.ts'

const route = routeOf('Commands')

const POLICY_READERS = ['admin', 'auditor'] as const
export const COMMAND_ERRORS = {
  command_not_found: { status: 404, meaning: 'There is no such command.' },
  execution_not_found: { status: 404, meaning: 'There is no such execution.' },
  own_request: { status: 403, meaning: 'Another person has to decide on the request.' },
  no_longer_allowed: {
    status: 409,
    meaning: 'The requester is no longer allowed to run the command; the request was cancelled.',
  },
} as const satisfies ErrorCodes

const { command_not_found, execution_not_found, own_request, no_longer_allowed } = COMMAND_ERRORS
const { invalid_transition, precondition_failed, too_many_streams } = SHARED_ERRORS
const user_not_found = { status: 404, meaning: 'There is no such user.' }

const accessText = bodyWriter(encodeAccess)
const dryRunText = bodyWriter(encodeDryRun)
const policyText = bodyWriter(encodePolicy)
const executionText = bodyWriter(encodeExecution)
const EXECUTION = { 200: { description: 'The execution as it is now.', schema: ExecutionSchema } }

/** docs/specification.md, Commands */
export function commandRoutes(commands: Commands, outputs: OutputStreams): Route[] {
  return [
    ...catalogueRoutes(commands),
    ...executionRoutes(commands, outputs),
    decisionRoute(commands, 'approve', 'approved'),
    decisionRoute(commands, 'reject', 'rejected'),
    ...policyRoutes(commands),
  ]
}

function catalogueRoutes(commands: Commands): Route[] {
  return [
    route({
      method: 'GET',
      path: '/commands',
      operation: 'listCommands',
      summary: 'List the commands that the caller may run, or all of them, by id',
      access: ROLES,
      query: CommandQuery,
      answers: { 200: { description: 'A page of commands.', schema: PageOf(CommandSchema) } },
      read: async ({ query, identity }) =>
        ok(encodePage(await commands.list(identity, parsePage(query, BY_ID), query.all), encodeCommand)),
    }),
    route({
      method: 'GET',
      path: '/commands/:id/access',
      operation: 'explainCommandAccess',
      summary: 'Why a user may, or may not, run a command',
      access: POLICY_READERS,
      params: CommandParams,
      query: AccessQuery,
      answers: { 200: { description: 'The explanation.', schema: AccessSchema } },
      errors: { command_not_found, user_not_found },
      read: async ({ params, query }) => ok(accessText(await commands.explain(params.id, query.user_id))),
    }),
    route({
      method: 'POST',
      path: '/commands/:id/execute',
      operation: 'executeCommand',
      summary: 'Request an execution of a command',
      description:
        'The worker runs it, at most once. Where the command needs the approval of a second person, it waits for that. ' +
        'With `dry_run` nothing is requested. The policy of commands decides who may run it.',
      access: ROLES,
      params: CommandParams,
      body: ExecuteBody,
      isBodyOptional: true,
      answers: {
        202: { description: 'The execution, queued or awaiting its approval.', schema: ExecutionSchema },
        200: { description: 'With `dry_run`: what would run.', schema: DryRunSchema },
      },
      errors: { command_not_found },
      audit: { kind: 'execution', id: 'answer', recordedStatuses: [202] },
      change: async (tx, { params, body, identity }) => {
        const request = { params: body.params ?? {}, reason: body.reason ?? null }
        if (body.dry_run) return ok(dryRunText(await commands.dryRun(tx, params.id, request, identity)))
        const execution = await commands.request(tx, params.id, request, identity)
        return { ...(await executionAnswer(commands, execution, tx)), status: 202 }
      },
    }),
  ]
}

function executionRoutes(commands: Commands, outputs: OutputStreams): Route[] {
  return [
    route({
      method: 'GET',
      path: '/commands/executions',
      operation: 'listExecutions',
      summary: 'List executions, newest first',
      description:
        'Those of commands that the caller may run or decide on, and its own; admin and auditor see all of them.',
      access: ROLES,
      query: ExecutionQuery,
      answers: { 200: { description: 'A page of executions.', schema: PageOf(ExecutionSchema) } },
      read: async ({ query, identity }) => {
        const { status, command_id: commandId, requested_by: requestedBy } = query
        const page = await commands.executions({ status, commandId, requestedBy }, parsePage(query), identity)
        const describe = await commands.describer()
        return ok(encodePage(page, (execution) => encodeExecution(describe(execution))))
      },
    }),
    route({
      method: 'GET',
      path: '/commands/executions/:id',
      operation: 'getExecution',
      summary: 'Read one execution with its output',
      access: ROLES,
      params: IdParams,
      answers: { 200: { description: 'The execution.', schema: ExecutionSchema } },
      errors: { execution_not_found },
      read: async ({ params, identity }) =>
        executionAnswer(commands, await commands.execution(params.id, identity)),
    }),
    route({
      method: 'GET',
      path: '/commands/executions/:id/output',
      operation: 'followExecutionOutput',
      summary: 'Follow the output of an execution',
      description:
        'Sends the output so far, then new output when it is written, then the event `end`. `Last-Event-ID` resumes after ' +
        'that event. A comment is sent every 15 seconds.',
      access: ROLES,
      params: IdParams,
      answers: { 200: { description: 'The stream.', schema: OutputEvents, contentType: EVENT_STREAM } },
      errors: { execution_not_found, too_many_streams },
      stream: ({ params, identity, headers }) =>
        outputs.open(params.id, identity, headers['last-event-id']?.toString()),
    }),
    route({
      method: 'POST',
      path: '/commands/executions/:id/cancel',
      operation: 'cancelExecution',
      summary: 'Cancel an execution that is queued or running',
      description:
        'A queued one is cancelled at once. A running one gets SIGTERM, after 10 seconds SIGKILL, and is cancelled then.',
      access: ROLES,
      params: IdParams,
      answers: EXECUTION,
      errors: { execution_not_found, invalid_transition },
      audit: { kind: 'execution', before: (tx, { params }) => stateOf(commands, params.id, tx) },
      change: async (tx, { params, identity }) =>
        executionAnswer(commands, await commands.cancel(tx, params.id, identity), tx),
    }),
  ]
}

function decisionRoute(commands: Commands, action: 'approve' | 'reject', decision: ApprovalDecision): Route {
  return route({
    method: 'POST',
    path: `/commands/executions/:id/${action}`,
    operation: `${action}Execution`,
    summary: `${action === 'approve' ? 'Approve' : 'Reject'} the request of another person`,
    access: ROLES,
    params: IdParams,
    body: DecisionBody,
    isBodyOptional: true,
    answers: EXECUTION,
    errors: { execution_not_found, own_request, invalid_transition, no_longer_allowed },
    audit: { kind: 'execution', before: (tx, { params }) => stateOf(commands, params.id, tx) },
    change: async (tx, { params, body, identity }) => {
      const decided = await commands.decide(tx, params.id, decision, body.comment ?? null, identity)
      // The platform has given a reason if it has cancelled the request instead.
      return decided.statusReason ? cancelledAnswer(decided) : executionAnswer(commands, decided, tx)
    },
  })
}

function policyRoutes(commands: Commands): Route[] {
  return [
    route({
      method: 'GET',
      path: '/commands/policy',
      operation: 'getCommandPolicy',
      summary: 'Read who may run which command',
      access: POLICY_READERS,
      answers: { 200: versioned('The policy; `ETag` names its revision.', PolicySchema) },
      read: async () => policyAnswer(await commands.policy()),
    }),
    route({
      method: 'PUT',
      path: '/commands/policy',
      operation: 'setCommandPolicy',
      summary: 'Replace the whole policy',
      description: 'It applies to every later call. With `If-Match` only that revision is replaced.',
      access: ['admin'],
      body: PolicyBody,
      answers: { 200: versioned('The new policy.', PolicySchema) },
      errors: { precondition_failed },
      audit: { kind: 'policy', before: (tx) => commands.policy(tx) },
      change: async (tx, { body, identity, headers }) => {
        const expected = parseIfMatch(headers['if-match'])
        return policyAnswer(await commands.setPolicy(tx, body.rules, identity.id, expected))
      },
    }),
    route({
      method: 'GET',
      path: '/commands/policy/history',
      operation: 'getCommandPolicyHistory',
      summary: 'Every change of the policy, newest first',
      access: POLICY_READERS,
      query: TimedQuery,
      answers: { 200: { description: 'A page of changes.', schema: PageOf(PolicyChangeSchema) } },
      read: async ({ query }) =>
        ok(encodePage(await commands.policyHistory(parsePage(query)), encodePolicyChange)),
    }),
  ]
}

/** The execution before the change, for the audit trail. */
async function stateOf(commands: Commands, id: string, tx: Tx): Promise<JsonText> {
  return describedText(commands, await commands.executionBefore(tx, id), tx)
}

async function describedText(commands: Commands, execution: ExecutionView, tx?: Tx): Promise<JsonText> {
  const describe = await commands.describer(tx)
  return executionText(describe(execution))
}

async function executionAnswer(commands: Commands, execution: ExecutionView, tx?: Tx): Promise<Answer> {
  return ok(await describedText(commands, execution, tx))
}

/** An answer and not an error, because the cancellation is committed with it. */
function cancelledAnswer({ requestedBy, commandId }: ExecutionView): Answer {
  const message =
    `The requester ${requestedBy} is no longer allowed to run the command ${commandId}, so the request was cancelled. ` +
    'It needs a new request by somebody who may run it.'
  return { status: no_longer_allowed.status, body: { code: 'no_longer_allowed', message } }
}

function policyAnswer(policy: Policy): Answer {
  return ok(policyText(policy), entityTag(policy.revision))
}
