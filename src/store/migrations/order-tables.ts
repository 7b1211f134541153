import { sql, type RawBuilder } from 'kysely'

/** The columns of an order after its `seq`. Migrations that ran never change: a new column gets its own migration. */
export function orderColumns(integer: RawBuilder<unknown>, statuses: readonly string[]) {
  return sql`order_id text not null unique,
    platform text not null,
    amount_cents ${integer} not null,
    status text not null check (status in (${sql.join(statuses.map((status) => sql.lit(status)))})),
    expires_at ${integer} not null,
    created_at ${integer} not null,
    created_by text not null,
    updated_at ${integer} not null,
    paid_at ${integer},
    shipped_at ${integer},
    completed_at ${integer},
    expired_at ${integer},
    version ${integer} not null`
}

/** The columns of a history of orders of that table. */
export function orderHistoryColumns(integer: RawBuilder<unknown>, orders: string) {
  return sql`order_id text not null references ${sql.table(orders)} (order_id),
    version ${integer} not null,
    at ${integer} not null,
    from_status text not null,
    to_status text not null,
    actor text not null`
}
