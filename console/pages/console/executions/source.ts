import type { ListSource } from '../../../parts/list/use-list.ts'
import type { ResourceSource } from '../../../parts/resource/use-resource.ts'
import { call, live } from '../platform.ts'
import { EXECUTION_FILTERS, executionIn, isOpen, type Execution } from './model.ts'

const PAGE_LENGTH = 50
const PREFIX = 'command.'

/** The executions, newest first. */
export const executionList: ListSource<Execution> = {
  filters: EXECUTION_FILTERS,
  live,
  prefix: PREFIX,
  read: (query, signal) => call('listExecutions', { query: { ...query, limit: PAGE_LENGTH } }, signal),
  keyOf: ({ id }) => id,
  fromEvent: executionIn,
  // No event says that an execution has started, and most roles receive no events of executions.
  isUnsettled: ({ status }) => isOpen(status),
}

/** One execution. */
export const executionResource: ResourceSource<Execution> = {
  live,
  prefix: PREFIX,
  read: (id, signal) => call('getExecution', { path: { id } }, signal),
  isAbout: (event, id) => executionIn(event)?.id === id,
}
