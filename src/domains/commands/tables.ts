import type { Containment, ParameterValue } from '../../kernel/command.ts'
import { defineColumns, generated, integer, json, text, schemaOf } from '../../store/columns.ts'
import { WORK_COLUMNS } from '../../store/work/work-queue.ts'
import type { Role } from '../../kernel/identity.ts'
import type { ApprovalRecord, ExecutionStatus, StatusReason } from './model.ts'
import type { PolicyRule } from './policy.ts'

export const executions = defineColumns({
  seq: generated(),
  id: text(),
  commandId: text(),
  /** Without secrets. */
  params: json<Readonly<Record<string, ParameterValue>>>(),
  reason: text().nullable(),
  requestedBy: text(),
  requesterRoles: json<readonly Role[]>().nullable(),
  status: text<ExecutionStatus>(),
  statusReason: text<StatusReason>().nullable(),
  approvals: json<readonly ApprovalRecord[]>(),
  exitCode: integer().nullable(),
  signal: text().nullable(),
  host: text().nullable(),
  containment: text<Containment>().nullable(),
  cancelledBy: text().nullable(),
  createdAt: integer(),
  startedAt: integer().nullable(),
  finishedAt: integer().nullable(),
  expiresAt: integer().nullable(),
  /** Encrypted; null without secrets, and from the start or the end on. */
  secrets: text().nullable(),
  version: integer(),
  ...WORK_COLUMNS,
})

/** The end of the output of an execution that has started; a table of its own, because it changes while it runs. */
export const outputs = defineColumns({ executionId: text(), text: text(), total: integer() })

/** Every policy that was set; the last one is in force. */
export const policies = defineColumns({
  seq: generated(),
  revision: integer(),
  at: integer(),
  actor: text(),
  rules: json<Readonly<Record<string, PolicyRule>>>(),
})

/** Rows that a transaction locks, because its decision depends on several rows. */
const locks = defineColumns({ name: text() })

export const { changeRow, changeRows, db, names, pages, readRow, readRows } = schemaOf({
  command_executions: executions,
  command_outputs: outputs,
  command_policies: policies,
  command_locks: locks,
})
