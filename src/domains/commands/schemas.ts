import { Type } from 'typebox'
import { APPROVALS, CONTAINMENTS, type ParameterValue } from '../../kernel/command.ts'
import { ROLES, type Role } from '../../kernel/identity.ts'
import { JsonText } from '../../kernel/text.ts'
import { SECOND } from '../../kernel/time.ts'
import { encoderOf } from '../../wire/codec.ts'
import { PageQuery, TimedPageQuery } from '../../wire/page.ts'
import {
  Fields,
  Id,
  Nullable,
  NullableOneOf,
  NullableTimestamp,
  OneOf,
  Text,
  Timestamp,
  Version,
} from '../../wire/schemas.ts'
import type { AnyCommand } from './catalogue.ts'
import type { CommandEventData } from './deps.ts'
import { DECISIONS, EXECUTION_STATUSES, STATUS_REASONS, type ExecutionView } from './model.ts'
import { parametersSchema } from './parameters.ts'
import type { Policy } from './policy.ts'

const CommandId = Text({
  minLength: 1,
  maxLength: 64,
  description: 'The id of a built-in command, or of a table `[commands.<id>]` of the configuration.',
  examples: ['orders.expire-due'],
})
const Approval = OneOf(APPROVALS, '`two_person`: another person has to approve each request.')
const TimeoutSeconds = Type.Number({ exclusiveMinimum: 0, description: 'Then the execution is ended.' })
const Status = OneOf(EXECUTION_STATUSES, 'Where the execution stands.')
const Caller = Type.String({ description: 'Id of the caller.' })

export const CommandSchema = Fields(
  {
    id: CommandId,
    title: Type.String(),
    description: Type.String(),
    params: Type.Unsafe<object>({ type: 'object', description: 'JSON Schema of the parameters.' }),
    approval: Approval,
    timeout_seconds: TimeoutSeconds,
  },
  { $id: 'Command' },
)

export const CommandQuery = Fields({
  ...PageQuery,
  all: Type.Optional(Type.Boolean({ description: 'With `true`: all commands, only for admin and auditor.' })),
})

export const CommandParams = Fields({ id: CommandId })

const Params = (description: string) =>
  Type.Unsafe<Readonly<Record<string, ParameterValue>>>({
    type: 'object',
    maxProperties: 100,
    description,
    examples: [{ unit: 'nginx' }],
  })

export const ExecuteBody = Fields({
  params: Type.Optional(Params('By name. A parameter that is left out has its default.')),
  reason: Type.Optional(
    Text({ minLength: 1, maxLength: 1_024, description: 'Required where another person has to approve.' }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: 'Only check the request.' })),
})

export const DryRunSchema = Fields(
  {
    would_run: Type.Array(Type.String(), {
      description: 'The program with its arguments, or the id of a built-in command.',
    }),
    approval: Approval,
    timeout_seconds: TimeoutSeconds,
  },
  { $id: 'CommandDryRun' },
)

const ApprovalSchema = Fields({
  at: Timestamp,
  by: Caller,
  decision: OneOf(DECISIONS),
  comment: Nullable<string>({ type: 'string' }),
})

export const ExecutionSchema = Fields(
  {
    id: Id,
    command_id: CommandId,
    title: Type.Optional(
      Nullable<string>({
        type: 'string',
        description: 'The title of the command; null if the command does not exist. Events have none.',
      }),
    ),
    would_run: Type.Optional(
      Nullable<string[]>({
        type: 'array',
        items: { type: 'string' },
        description:
          'While it awaits its approval: the program with its arguments, or the id of a built-in command. Otherwise null, ' +
          'also if the configuration lacks the command or has other parameters. Events have none.',
      }),
    ),
    approvers: Type.Optional(
      Nullable<Role[]>({
        type: 'array',
        items: { type: 'string', enum: ROLES },
        description: 'While it awaits its approval: the roles that decide. Otherwise null. Events have none.',
      }),
    ),
    params: Params('A secret one is `**redacted**`.'),
    reason: Nullable<string>({ type: 'string' }),
    requested_by: Caller,
    status: Status,
    status_reason: NullableOneOf(
      STATUS_REASONS,
      'Why the platform has ended it before its start: `no_longer_allowed`, its requester is no longer allowed to run the ' +
        'command, or its approver to decide on it; `not_started`, no worker has begun it within `commands.start_within`. Otherwise null.',
    ),
    approvals: Type.Array(ApprovalSchema),
    exit_code: Nullable<number>({ type: 'integer', description: '127 if the program could not be started.' }),
    signal: Nullable<string>({ type: 'string', description: 'The signal that has ended the program.' }),
    output: Type.String({
      description:
        'The last 64 KiB of both streams, with secrets as `**redacted**`; in a list the last 1,024 characters.',
    }),
    output_truncated: Type.Boolean({ description: 'Whether the output had more than `output`.' }),
    host: Nullable<string>({ type: 'string', description: 'Host of the worker; null before the start.' }),
    containment: NullableOneOf(
      CONTAINMENTS,
      'How its processes are kept together: in a PID namespace that none can leave, or by a search. Null before the ' +
        'start, and for a built-in command.',
    ),
    cancelled_by: Nullable<string>({ type: 'string', description: 'Id of the caller.' }),
    created_at: Timestamp,
    started_at: NullableTimestamp,
    finished_at: NullableTimestamp,
    expires_at: Nullable<string>({
      ...NullableTimestamp,
      type: 'string',
      description:
        'When it expires: without an approval, or, once it is queued, without a start (`commands.start_within`). Null if an ' +
        'older release has queued it.',
    }),
    version: Version,
  },
  { $id: 'Execution' },
)

export const ExecutionQuery = Fields({
  status: Type.Optional(Status),
  command_id: Type.Optional(CommandId),
  requested_by: Type.Optional(Text({ minLength: 1, maxLength: 128, description: 'Id of a caller.' })),
  ...TimedPageQuery,
})

export const DecisionBody = Fields({
  comment: Type.Optional(Text({ minLength: 1, maxLength: 1_024 })),
})

export const OutputEvents = Type.String({
  description:
    'Server-sent events: `output` with `{"text", "skipped"?}`, first the output so far, then new output; `skipped` counts ' +
    'characters that were removed before they could be sent. At the end `end` with `{"status", "exit_code", "signal"}`.',
})

const Roles = Type.Array(OneOf(ROLES), { uniqueItems: true, maxItems: ROLES.length })

const Rule = Fields({
  roles: Roles,
  approvers: Type.Optional(Roles),
  approval: Type.Optional(Approval),
})

const Rules = Type.Unsafe<Policy['rules']>({
  type: 'object',
  additionalProperties: Rule,
  maxProperties: 1_000,
  description:
    'By the id of the command: the roles that may run it; the roles that may decide on its requests (admin when left ' +
    'out); the approval that it needs (that of the command when left out). Without a rule only admin may run a command.',
  examples: [{ 'orders.expire-due': { roles: ['admin', 'devops'] } }],
})

const Revision = Type.Integer({ minimum: 1, description: 'Raised by each change; also the `ETag`.' })

export const PolicySchema = Fields({ revision: Revision, rules: Rules }, { $id: 'CommandPolicy' })

export const PolicyBody = Fields({ rules: Rules })

export const PolicyChangeSchema = Fields({ revision: Revision, at: Timestamp, actor: Caller, rules: Rules })

export const AccessQuery = Fields({ user_id: Id })

export const AccessSchema = Fields({
  allowed: Type.Boolean(),
  because: Type.String({ description: 'One sentence for people.' }),
  rule: Nullable<{ revision: number; roles: Role[] }>({
    ...Fields({ revision: Type.Integer(), roles: Type.Array(OneOf(ROLES)) }),
    description: 'The rule of the command; null when there is none, so that only admin may run it.',
  }),
  user: Fields({ roles: Type.Array(OneOf(ROLES)), enabled: Type.Boolean() }),
})

const timeout_seconds = ({ timeoutMs }: { readonly timeoutMs: number }) => timeoutMs / SECOND

export const encodeCommand = encoderOf(CommandSchema, {
  params: ({ params }: AnyCommand) => new JsonText(JSON.stringify(parametersSchema(params))),
  timeout_seconds,
})

export const encodeDryRun = encoderOf(DryRunSchema, { timeout_seconds })

/** One execution. */
export const encodeExecution = encoderOf(ExecutionSchema, {
  output_truncated: ({ output, outputTotal }: ExecutionView) => outputTotal > output.length,
})

export const encodePolicy = encoderOf(PolicySchema)

export const encodePolicyChange = encoderOf(PolicyChangeSchema)

/** The data of an event. */
export function encodeCommandEvent(data: CommandEventData): string {
  return 'rules' in data ? encodePolicyChange(data) : encodeExecution(data)
}

export const encodeAccess = encoderOf(AccessSchema)
