import { type ColumnDataType, type CreateTableBuilder, type Expression, sql } from 'kysely'

type ColumnType = ColumnDataType | Expression<unknown>

/** The columns of an order after its `seq`. Migrations that ran never change: a new column gets its own migration. */
export function orderColumns(integer: ColumnType, statuses: readonly string[]) {
  return <Table extends string, Columns extends string>(table: CreateTableBuilder<Table, Columns>) =>
    table
      .addColumn('order_id', 'text', (column) => column.notNull().unique())
      .addColumn('platform', 'text', (column) => column.notNull())
      .addColumn('amount_cents', integer, (column) => column.notNull())
      .addColumn('status', 'text', (column) =>
        column.notNull().check(sql`status in (${sql.join(statuses.map((status) => sql.lit(status)))})`),
      )
      .addColumn('expires_at', integer, (column) => column.notNull())
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('updated_at', integer, (column) => column.notNull())
      .addColumn('paid_at', integer)
      .addColumn('shipped_at', integer)
      .addColumn('completed_at', integer)
      .addColumn('expired_at', integer)
      .addColumn('version', integer, (column) => column.notNull())
}

/** The columns of a history of orders of that table. */
export function orderHistoryColumns(integer: ColumnType, orders: string) {
  return <Table extends string, Columns extends string>(table: CreateTableBuilder<Table, Columns>) =>
    table
      .addColumn('order_id', 'text', (column) => column.notNull().references(`${orders}.order_id`))
      .addColumn('version', integer, (column) => column.notNull())
      .addColumn('at', integer, (column) => column.notNull())
      .addColumn('from_status', 'text', (column) => column.notNull())
      .addColumn('to_status', 'text', (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
}
