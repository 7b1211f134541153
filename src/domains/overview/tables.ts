import { defineColumns, integer, schemaOf } from '../../store/columns.ts'

/** What happened in each step of five minutes. */
export const steps = defineColumns({
  /** When the step begins, in epoch milliseconds. */
  at: integer(),
  created: integer(),
  paid: integer(),
  shipped: integer(),
  completed: integer(),
  expired: integer(),
  /** As sampled early in the step; this column and the next one are null when no worker ran. */
  firingAlerts: integer().nullable(),
  openSessions: integer().nullable(),
})

/** One row: how many orders of each status there are, counted up to one event. */
export const orderCounts = defineColumns({
  /** The place of the last event that is counted. */
  place: integer(),
  pending: integer(),
  paid: integer(),
  shipped: integer(),
  completed: integer(),
  expired: integer(),
})

export const { changeRow, changeRows, lockable, names, readRow, readRows } = schemaOf({
  overview_steps: steps,
  overview_orders: orderCounts,
})
