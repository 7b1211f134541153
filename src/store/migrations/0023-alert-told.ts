import { sql } from 'kysely'
import { DAY } from '../../kernel/time.ts'
import type { Queries } from '../store.ts'
import type { Migration } from './migration.ts'

/** What each receiver was told last of each alert, and the state of the receivers. */
export const alertTold: Migration = {
  name: '0023-alert-told',
  breaking: false,
  async up({ db, capabilities: { integer, tableSuffix } }) {
    await db.schema
      .createTable('alert_told')
      .addColumn('alert_id', 'text', (column) => column.notNull().references('alerts.id').onDelete('cascade'))
      .addColumn('receiver', 'text', (column) => column.notNull())
      .addColumn('weight', integer, (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('at', integer, (column) => column.notNull())
      .addPrimaryKeyConstraint('alert_told_key', ['alert_id', 'receiver'])
      .modifyEnd(tableSuffix)
      .execute()
    await sql`insert into alert_told (alert_id, receiver, weight, status, at)
      select alert_id, channel, weight,
        case when occasion = 'frozen' then 'frozen' when weight = 0 then 'recovered' else 'firing' end, at
      from alert_notifications
      where seq in (select max(seq) from alert_notifications where outcome in ('sent', 'bundled')
        group by alert_id, channel)`.execute(db)
    await db.schema
      .alterTable('alert_messages')
      .addColumn('refusals', integer, (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema
      .alterTable('alert_messages')
      .addColumn('is_uncertain', integer, (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.alterTable('alert_channels').addColumn('health', 'text').execute()
    await db.schema
      .createIndex('alert_notifications_by_weight')
      .on('alert_notifications')
      .columns(['weight desc', 'seq'])
      .where(sql.ref('outcome'), '=', sql.lit('pending'))
      .where(sql.ref('message_id'), 'is', null)
      .execute()
    await db.schema
      .createIndex('alert_notifications_waiting')
      .on('alert_notifications')
      .column('alert_id')
      .where(sql.ref('outcome'), '=', sql.lit('pending'))
      .execute()
    // The one before also finds what this one found.
    await db.schema.dropIndex('alert_notifications_urgent').execute()
  },
}

/** Alerts that are told again while they fire, and an end for those that had none. */
export const alertRepetitions: Migration = {
  name: '0024-alert-repetitions',
  breaking: false,
  async up({ db, capabilities: { integer } }, now) {
    for (const column of ['repeat_every_ms', 'repeat_at'])
      await db.schema.alterTable('alerts').addColumn(column, integer).execute()
    await db.schema
      .alterTable('alert_groups')
      .addColumn('is_truncated', integer, (column) => column.notNull().defaultTo(0))
      .execute()
    const next = now + DAY
    await sql`update alerts set repeat_every_ms = ${DAY}
      where weight > 0 and (alarm_id like 'message.dead:%' or alarm_id like 'command.%:%'
        or alarm_id like 'heartbeat.missed:%' or alarm_id like 'certificate.file:%'
        or alarm_id in ('telemetry.refused', 'data.backup.failed', 'backup.failed.critical',
          'system.selfcheck.failed', 'system.reboot.init', 'system.reboot.blocked'))`.execute(db)
    // One that is acknowledged or frozen is told again after that.
    await sql`update alerts set repeat_at = ${next}, due_at = case when due_at < ${next} then due_at else ${next} end
      where status = 'firing' and repeat_every_ms is not null`.execute(db)
    // What would end these has happened already, or cannot happen any more.
    await sql`update alerts set expires_at = ${now}, due_at = ${now}
      where weight > 0 and ((alarm_id like 'message.dead:%' and alarm_id not in
          (select 'message.dead:' || id from messages where status = 'dead'))
        or (alarm_id like 'command.incomplete:%' and alarm_id not in
          (select 'command.incomplete:' || id from command_executions)))`.execute(db)
    // There may be one for each order that has ever expired, and nobody waits for a message about each of their ends.
    await sql`delete from alert_told where alert_id in
      (select id from alerts where weight > 0 and alarm_id like 'order.timeout:%')`.execute(db)
    await sql`update alerts set expires_at = last_at + ${DAY},
        due_at = case when due_at < last_at + ${DAY} then due_at else last_at + ${DAY} end
      where weight > 0 and alarm_id like 'order.timeout:%'`.execute(db)
  },
}

const CHECKED = `'rejected', 'expired')`
const CHECKED_NOW = `'rejected', 'expired', 'interrupted')`

export const executionReasons: Migration = {
  name: '0025-execution-reasons',
  breaking: false,
  async up(tx) {
    await (tx.capabilities.replacesConstraints ? replaceCheck(tx) : makeTablesAnew(tx))
    for (const column of ['status_reason', 'requester_roles'])
      await tx.db.schema.alterTable('command_executions').addColumn(column, 'text').execute()
  },
}

async function replaceCheck({ db }: Queries): Promise<void> {
  await sql`alter table command_executions drop constraint command_executions_status_check`.execute(db)
  await sql`alter table command_executions add constraint command_executions_status_check check (status in
    ('awaiting_approval', 'queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled', 'incomplete',
      'rejected', 'expired', 'interrupted'))`.execute(db)
}

/** Copies both tables, because their deletion must not delete the outputs, which refer to the executions. */
async function makeTablesAnew(tx: Queries): Promise<void> {
  const { db } = tx
  const indexes = await definitionsOf(tx, 'index')
  await copyTable(tx, 'command_executions', (definition) => definition.replace(CHECKED, CHECKED_NOW))
  await copyTable(tx, 'command_outputs', (definition) =>
    definition.replace('"command_executions"', '"command_executions_next"'),
  )
  // The numbers go on where they were, also if the newest rows are gone.
  await sql`delete from sqlite_sequence where name = 'command_executions_next'`.execute(db)
  await sql`insert into sqlite_sequence (name, seq)
    select 'command_executions_next', seq from sqlite_sequence where name = 'command_executions'`.execute(db)
  for (const table of ['command_outputs', 'command_executions']) await db.schema.dropTable(table).execute()
  // A rename is followed by the references to the table.
  for (const table of ['command_executions', 'command_outputs'])
    await db.schema.alterTable(`${table}_next`).renameTo(table).execute()
  for (const definition of indexes) await sql.raw(definition).execute(db)
}

async function copyTable(tx: Queries, table: string, change: (definition: string) => string): Promise<void> {
  const [definition = ''] = await definitionsOf(tx, 'table', table)
  const next = change(definition.replace(`"${table}"`, `"${table}_next"`))
  await sql.raw(next).execute(tx.db)
  await sql`insert into ${sql.table(`${table}_next`)} select * from ${sql.table(table)}`.execute(tx.db)
}

async function definitionsOf(
  { db }: Queries,
  type: 'table' | 'index',
  table = 'command_executions',
): Promise<string[]> {
  const { rows } = await sql<{ sql: string }>`select sql from sqlite_schema
    where type = ${type} and tbl_name = ${table} and sql is not null`.execute(db)
  return rows.map((row) => row.sql)
}

/** The agents whose telemetry the bus refuses, for the end of the alert about them. */
export const refusedTelemetry: Migration = {
  name: '0026-refused-telemetry',
  breaking: false,
  async up({ db, capabilities: { integer } }) {
    await db.schema.alterTable('telemetry_agents').addColumn('refused_at', integer).execute()
    await db.schema
      .createIndex('telemetry_agents_refused')
      .on('telemetry_agents')
      .column('refused_at')
      .where(sql.ref('refused_at'), 'is not', null)
      .execute()
  },
}

export const addApiTokens: Migration = {
  name: '0027-api-tokens',
  breaking: false,
  async up({ db, capabilities: { integer, numbered, tableSuffix } }) {
    await db.schema
      .createTable('api_tokens')
      .addColumn('seq', integer, numbered)
      .addColumn('id', 'text', (column) => column.notNull().unique())
      .addColumn('user_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('roles', 'text')
      .addColumn('created_at', integer, (column) => column.notNull())
      .addColumn('expires_at', integer, (column) => column.notNull())
      .addColumn('last_used_at', integer)
      .addColumn('last_used_from', 'text')
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema.createIndex('api_tokens_by_user').on('api_tokens').columns(['user_id', 'seq']).execute()
    await db.schema
      .createTable('ended_tokens')
      .addColumn('token_id', 'text', (column) => column.primaryKey())
      .addColumn('ended_at', integer, (column) => column.notNull())
      .addColumn('expires_at', integer, (column) => column.notNull())
      .modifyEnd(tableSuffix)
      .execute()
    await db.schema.createIndex('ended_tokens_by_end').on('ended_tokens').column('ended_at').execute()
    await db.schema.createIndex('ended_tokens_by_expiry').on('ended_tokens').column('expires_at').execute()
    await db.schema.alterTable('vpn_sessions').addColumn('token_id', 'text').execute()
    await db.schema
      .createIndex('vpn_sessions_by_token')
      .on('vpn_sessions')
      .column('token_id')
      .where(sql.ref('token_id'), 'is not', null)
      .execute()
  },
}

/** The wildcard that would cover each name, so that a certificate with it replaces those of single names. */
export const certificateWildcards: Migration = {
  name: '0028-certificate-wildcards',
  breaking: false,
  async up({ db }) {
    await db.schema.alterTable('certificate_names').addColumn('wildcard', 'text').execute()
    // What is left of a DNS name without its first label begins with a dot; so does that of an IPv4 address.
    const rest = sql`ltrim(name, 'abcdefghijklmnopqrstuvwxyz0123456789_-')`
    await sql`update certificate_names set wildcard = '*' || ${rest}
      where ${rest} like '._%' and ltrim(name, '.0123456789') <> ''`.execute(db)
    await db.schema
      .createIndex('certificate_names_by_wildcard')
      .on('certificate_names')
      .column('wildcard')
      .where(sql.ref('wildcard'), 'is not', null)
      .execute()
    await sql`update certificates set replaced_by = (
        select other.id from certificates other
        where other.revoked_at is null and other.not_after > certificates.not_after
          and other.id in (
            select sharing.certificate_id from certificate_names own
            join certificate_names sharing on sharing.name in (own.name, own.wildcard)
            where own.certificate_id = certificates.id)
          and not exists (
            select 1 from certificate_names own
            where own.certificate_id = certificates.id and not exists (
              select 1 from certificate_names theirs
              where theirs.certificate_id = other.id and theirs.name in (own.name, own.wildcard)))
        order by other.not_after desc, other.seq desc limit 1)
      where id in (
        select own.certificate_id from certificate_names own
        join certificate_names covering on covering.name = own.wildcard)`.execute(db)
  },
}

/** Which texts of each alert each receiver was told last; unknown for what was told before. */
export const alertToldTexts: Migration = {
  name: '0029-alert-told-texts',
  breaking: false,
  async up({ db }) {
    await db.schema.alterTable('alert_told').addColumn('text_hash', 'text').execute()
  },
}
