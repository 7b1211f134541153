// Generated from the OpenAPI document of the platform. Run `node scripts/docs.ts` to write it again.

export type FaultCode =
  | 'invalid'
  | 'required'
  | 'reason_required'
  | 'old_password_required'
  | 'level_required'
  | 'unknown_field'
  | 'unknown_parameter'
  | 'repeated_parameter'
  | 'unknown_command'
  | 'unknown_event'
  | 'left_out'
  | 'left_out_with'
  | 'left_out_without'
  | 'required_one_of'
  | 'left_out_with_items'
  | 'needed_without_items'
  | 'wrong_type'
  | 'wrong_form'
  | 'not_matching'
  | 'not_in_list'
  | 'none_of_list'
  | 'not_a_time'
  | 'not_a_name'
  | 'not_a_schedule'
  | 'not_a_time_zone'
  | 'not_an_id'
  | 'not_an_agent_id'
  | 'not_ids'
  | 'not_a_subject'
  | 'not_subjects'
  | 'not_a_header_name'
  | 'not_a_header_value'
  | 'not_a_menu_path'
  | 'not_a_user'
  | 'not_a_path'
  | 'not_text'
  | 'not_exact'
  | 'not_unique'
  | 'not_an_integer'
  | 'out_of_range'
  | 'too_short'
  | 'too_long'
  | 'too_many_bytes'
  | 'too_many_bytes_together'
  | 'too_few_items'
  | 'too_many_items'
  | 'too_few_fields'
  | 'too_many_fields'
  | 'too_small'
  | 'too_large'
  | 'too_deep'
  | 'not_in_future'
  | 'not_after'
  | 'too_far_after'
  | 'same_as'
  | 'never_between'
  | 'other_cursor'
  | 'unknown_cursor'
  | 'repetitive_password'
  | 'user_name_password'
  | 'common_password'
  | 'secret_variable'
  | 'private_key'
  | 'pem_without_block'
  | 'pem_with_many_blocks'
  | 'pem_block'
  | 'menu_duplicate_id'
  | 'menu_two_parents'
  | 'menu_unknown_parent'
  | 'menu_deleted_parent'
  | 'menu_cycle'
  | 'menu_too_deep'
  | 'menu_too_many'
  | 'menu_too_much_text'

export type FindingCode =
  | 'check_failed'
  | 'configuration_invalid'
  | 'configuration_empty'
  | 'configuration_writable'
  | 'configuration_readable'
  | 'secrets_unusable'
  | 'environment_not_loaded'
  | 'variable_unknown'
  | 'service_failed'
  | 'service_restarts'
  | 'service_stopped'
  | 'service_unstable'
  | 'service_read_only'
  | 'service_user_missing'
  | 'data_dir_broken'
  | 'data_dir_no_directory'
  | 'data_dir_of_root'
  | 'data_dir_of_other'
  | 'data_dir_open'
  | 'data_dir_copied'
  | 'files_of_other'
  | 'files_unreadable'
  | 'files_writable'
  | 'key_readable'
  | 'key_refused'
  | 'key_lost'
  | 'key_changed'
  | 'key_replaced'
  | 'audit_key_lost'
  | 'seal_missing'
  | 'access_denied'
  | 'access_denied_above'
  | 'port_in_use'
  | 'port_unusable'
  | 'platform_failing'
  | 'platform_outdated'
  | 'tls_missing'
  | 'tls_ends'
  | 'tls_unusable'
  | 'clock_before_migration'
  | 'clock_ahead'
  | 'clock_behind'
  | 'disk_full'
  | 'disk_low'
  | 'disk_too_small'
  | 'log_disk_low'
  | 'log_deleted'
  | 'inodes_low'
  | 'disk_of_network'
  | 'server_unreachable'
  | 'server_former_primary'
  | 'file_left'
  | 'lock_held'
  | 'database_elsewhere'
  | 'database_gone'
  | 'database_absent'
  | 'database_newer'
  | 'database_unusable'
  | 'database_damaged'
  | 'rows_lost'
  | 'database_read_only'
  | 'schema_pending'
  | 'schema_newer'
  | 'database_setting'
  | 'releases_differ'
  | 'buses_differ'
  | 'bus_of_others'
  | 'process_of_other_database'
  | 'data_dirs_differ'
  | 'engine_near_end'
  | 'worker_missing'
  | 'orders_overdue'
  | 'payments_failing'
  | 'bus_unreachable'
  | 'bus_stopped'
  | 'bus_certificate_refused'
  | 'bus_login_refused'
  | 'bus_is_other_program'
  | 'bus_unanswered'
  | 'bus_host_unknown'
  | 'bus_lost'
  | 'bus_unstored'
  | 'bus_payload_small'
  | 'jetstream_off'
  | 'jetstream_off_since'
  | 'stream_full'
  | 'stream_silent'
  | 'messages_wait'
  | 'messages_unsent'
  | 'messages_dead'
  | 'certificates_ended'
  | 'certificates_end_soon'
  | 'certificate_files_lost'
  | 'receiver_outdated'
  | 'receiver_failing'
  | 'receiver_never_reached'
  | 'all_silenced'
  | 'alert_open'
  | 'program_missing'
  | 'program_not_in_path'
  | 'program_not_executable'
  | 'webhook_failing'
  | 'execution_waits'
  | 'execution_late'
  | 'admin_missing'
  | 'provider_unreachable'
  | 'provider_unusable'
  | 'api_unreachable'
  | 'api_is_other_program'
  | 'api_other_protocol'
  | 'api_answer'
  | 'api_is_gateway'
  | 'gateway_unknown'
  | 'mirror_token_unusable'
  | 'primary_refused'
  | 'primary_unreachable'
  | 'primary_unusable'
  | 'pools_overlap'
  | 'copy_too_old'
  | 'copy_old'
  | 'night_never'
  | 'night_never_failed'
  | 'night_late'
  | 'night_failed'
  | 'drill_failed'
  | 'night_in_future'
  | 'night_state_lost'
  | 'night_timer_elsewhere'
  | 'night_refused'
  | 'night_unheard'
  | 'drive_shared'
  | 'drive_file_missing'
  | 'drive_file_open'
  | 'drive_file_unusable'
  | 'backup_never'
  | 'backup_late'
  | 'backup_in_future'
  | 'backup_file_lost'

export const VALUES = {
  listMessages: {"status":["pending","delivered","dead"]},
  listOrders: {"status":["pending","paid","shipped","completed","expired"],"sort":["created_at","expires_at"]},
  listPayments: {"status":["creating","open","paid","closed","failed"],"attention":["any","late","duplicate","amount_mismatch","unknown_order"]},
  listPaymentDifferences: {"kind":["missing_here","missing_there","amount_differs","status_differs"]},
  listVpnSessions: {"state":["open","closed"]},
  listVpnAudit: {"event":["session_registered","session_closed","auth_failed"]},
  listAlerts: {"status":["firing","acknowledged","recovered","frozen"],"sort":["created_at","severity"]},
  listSilences: {"state":["active","pending","ended"]},
  explainAlertRoute: {"severity":["CRITICAL","HIGH","ERROR","WARNING","INFO","CLOSE"]},
  listTickets: {"status":["open","in_progress","resolved","closed","unclosed"],"level":["critical","high","medium","low","info"]},
  listCertificates: {"status":["valid","not_yet_valid","expiring","expired","revoked","replaced"],"sort":["created_at","not_after"]},
  listExecutions: {"status":["awaiting_approval","queued","running","succeeded","failed","timed_out","cancelled","incomplete","rejected","expired","interrupted"]},
  listWebhookDeliveries: {"status":["pending","delivered","failed"]},
} as const

export const ORDER_MOVES = {"pending":["paid","expired"],"paid":["shipped","completed"],"shipped":["completed"],"completed":[],"expired":[]} as const

export const TICKET_MOVES = {"open":["in_progress","resolved","closed"],"in_progress":["open","resolved","closed"],"resolved":["open","closed"],"closed":["open"]} as const

export const EVENT_SCHEMAS = {
  "alert.raised": "Alert",
  "alert.acknowledged": "Alert",
  "alert.recovered": "Alert",
  "alert.frozen": "Alert",
  "alert.unfrozen": "Alert",
  "silence.created": "Silence",
  "silence.ended": "Silence",
  "order.created": "Order",
  "order.paid": "Order",
  "order.shipped": "Order",
  "order.completed": "Order",
  "order.timeout": "Order",
  "payment.created": "Payment",
  "payment.paid": "Payment",
  "payment.failed": "Payment",
  "payment.closed": "Payment",
  "payment.refunded": "Payment",
  "payment.attention": "Payment",
  "payment.reconciled": "Reconciliation",
  "vpn.audit.session_registered": "VpnAuditEntry",
  "vpn.audit.session_closed": "VpnAuditEntry",
  "vpn.audit.auth_failed": "VpnAuditEntry",
  "ticket.created": "TicketDetails",
  "ticket.updated": "TicketDetails",
  "heartbeat.created": "Heartbeat",
  "heartbeat.changed": "Heartbeat",
  "heartbeat.missed": "Heartbeat",
  "heartbeat.recovered": "Heartbeat",
  "heartbeat.deleted": "Heartbeat",
  "data.backup.started": "DataBackup",
  "data.backup.completed": "DataBackup",
  "data.backup.failed": "DataBackup",
  "data.backup.deleted": "DataBackup",
  "command.requested": "Execution",
  "command.decided": "Execution",
  "command.finished": "Execution"
} as const

export const BODIES = {
  publishMessage: {"type":"object","required":["subject","payload"],"properties":{"subject":{"type":"string","pattern":"^[^$\\s.*>\\x00-\\x20\\x7f][^\\s.*>\\x00-\\x20\\x7f]*(?:\\.[^\\s.*>\\x00-\\x20\\x7f]+)*$","maxLength":255,"description":"One subject: tokens separated by dots, no wildcards, not beginning with `$`.","examples":["shop.opened"]},"payload":{"description":"Any JSON value."},"headers":{"type":"object","patternProperties":{"^(?:[A-MO-Za-mo-z0-9_-][A-Za-z0-9_-]{0,63}|[Nn](?:[B-Zb-z0-9_-][A-Za-z0-9_-]{0,62})?|[Nn][Aa](?:[A-SU-Za-su-z0-9_-][A-Za-z0-9_-]{0,61})?|[Nn][Aa][Tt](?:[A-RT-Za-rt-z0-9_-][A-Za-z0-9_-]{0,60})?|[Nn][Aa][Tt][Ss](?:[A-Za-z0-9_][A-Za-z0-9_-]{0,59})?)$":{"type":"string","maxLength":1024,"pattern":"^[\\t\\x20-\\x7e]*$"}},"maxProperties":32,"additionalProperties":false,"description":"Headers of the bus message."}},"additionalProperties":false},
  createOrder: {"type":"object","required":["order_id","platform","amount_cents"],"properties":{"order_id":{"type":"string","pattern":"^[A-Za-z0-9._:-]{1,64}$","description":"The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ : -`, not `.` or `..`.","examples":["order-1001"]},"platform":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":64,"description":"Where the order came from.","examples":["live"]},"amount_cents":{"type":"integer","minimum":0,"maximum":9007199254740991,"examples":[4990],"format":"int64"},"expires_at":{"type":"string","format":"date-time","maxLength":64,"description":"RFC 3339 with any offset; 15 minutes from now when left out.","examples":["2099-01-31T03:00:00+01:00"]}},"additionalProperties":false},
  moveOrder: {"type":"object","required":["status"],"properties":{"status":{"type":"string","enum":["pending","paid","shipped","completed","expired"],"description":"The status of the order."}},"additionalProperties":false},
  createPayment: {"type":"object","required":["channel"],"properties":{"channel":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":64,"description":"The name of a channel of the configuration."},"return_url":{"type":"string","maxLength":2048,"pattern":"^https?://[!-~]+$","description":"Where the payer comes back to, if the provider leads there.","examples":["https://shop.example.org/thanks"]}},"additionalProperties":false},
  createRefund: {"type":"object","required":["reason"],"properties":{"amount_cents":{"type":"integer","minimum":1,"maximum":9007199254740991,"description":"All that is left when left out.","format":"int64"},"reason":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":80,"description":"The provider may show it to the customer."}},"additionalProperties":false},
  resolvePayment: {"type":"object","required":["note"],"properties":{"note":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":1000,"description":"What was done; it is kept in the history."}},"additionalProperties":false},
  reconcilePayments: {"type":"object","required":["channel","date"],"properties":{"channel":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":64,"description":"The name of a channel of the configuration."},"date":{"type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}$","maxLength":10,"description":"A day in the time zone of the books.","examples":["2026-01-31"]}},"additionalProperties":false},
  login: {"type":"object","required":["username","password"],"properties":{"username":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":256},"password":{"type":"string","minLength":1,"maxLength":1024}},"additionalProperties":false},
  createUser: {"type":"object","required":["name","password","roles"],"properties":{"name":{"type":"string","pattern":"^[A-Za-z0-9._@+-]{1,254}$","description":"1 to 254 of `A-Z a-z 0-9 . _ @ + -`, not `.` or `..`; unique, ignoring case.","examples":["ada"]},"password":{"type":"string","pattern":"^[^\\x00]*$","minLength":12,"maxLength":256,"description":"12 to 256 characters, at least 5 different ones; not a common password, and not the name of the user."},"roles":{"type":"array","items":{"type":"string","enum":["admin","devops","service","auditor"],"description":"The permissions of the user."},"minItems":1,"maxItems":16}},"additionalProperties":false},
  updateUser: {"type":"object","properties":{"roles":{"type":"array","items":{"type":"string","enum":["admin","devops","service","auditor"],"description":"The permissions of the user."},"minItems":1,"maxItems":16},"enabled":{"type":"boolean"}},"additionalProperties":false},
  setPassword: {"type":"object","required":["password"],"properties":{"password":{"type":"string","pattern":"^[^\\x00]*$","minLength":12,"maxLength":256,"description":"12 to 256 characters, at least 5 different ones; not a common password, and not the name of the user."},"old_password":{"type":"string","minLength":1,"maxLength":1024,"description":"Required to change your own password, ignored for that of another user."}},"additionalProperties":false},
  createApiToken: {"type":"object","required":["name"],"properties":{"name":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":64,"description":"What its owner calls it.","examples":["cash desk"]},"expires_in":{"type":"integer","minimum":1,"maximum":31622400,"description":"Seconds, at most 366 days; 7776000 (90 days) when left out."},"roles":{"type":"array","items":{"type":"string","enum":["admin","devops","service","auditor"]},"minItems":1,"maxItems":16,"description":"Roles of the user; all that the user has at the time of each call when left out."}},"additionalProperties":false},
  redeemTicket: {"type":"object","required":["ticket"],"properties":{"ticket":{"type":"string","minLength":1,"maxLength":256,"description":"From `#signed-in=…` of the address."}},"additionalProperties":false},
  reportAlert: {"type":"object","required":["source","title"],"properties":{"source":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":128,"description":"The system that reports the alert.","examples":["platform.backup"]},"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":256,"examples":["Backup failed"]},"body":{"type":"string","pattern":"^[^\\x00]*$","maxLength":16384,"description":"At most 16 KiB of UTF-8."},"level":{"type":["string","integer"],"minimum":0,"maximum":5,"description":"Case-insensitive: one of CRITICAL, HIGH, ERROR, WARNING, INFO, CLOSE, or an internal level from 0 to 5. CLOSE and 5 recover the alert.","examples":["HIGH",3]},"server_addr":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":256,"examples":["192.0.2.10"]},"runbook_url":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":2048,"description":"What to do about it: an http or https address.","examples":["https://wiki.example.org/runbooks/backup"]},"weight":{"type":"integer","minimum":0,"maximum":6,"description":"Default: the weight in the body (`weight=6`, `weight: 6`) if it is not below the level, else that of the level. 0 recovers the alert."},"alarm_id":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":128,"examples":["backup.failed"],"description":"Default: the alarm id in the body (`alarm_id=…`)."}},"additionalProperties":false},
  acknowledgeAlert: {"type":"object","properties":{"comment":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":4096,"description":"Shown in the history of the alert."}},"additionalProperties":false},
  createSilence: {"type":"object","required":["matchers","reason"],"properties":{"matchers":{"type":"object","properties":{"source":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":128,"examples":["platform.backup*"]},"alarm_id":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":128,"examples":["backup.failed"]},"server_addr":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":256,"examples":["192.0.2.10"]},"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":256,"examples":["Backup failed"]}},"additionalProperties":false,"minProperties":1,"maxProperties":4,"description":"At least one; each is an exact text, or a prefix that ends in `*`. All of them must match."},"reason":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":1024,"examples":["Planned maintenance"]},"starts_at":{"type":"string","format":"date-time","maxLength":64,"description":"RFC 3339 with any offset; now when left out."},"ends_at":{"type":"string","format":"date-time","maxLength":64,"description":"RFC 3339 with any offset; in the future. Without `repeat` it is required, and at most 30 days after `starts_at`; with `repeat` at most 366 days after it, which is the default."},"repeat":{"type":"object","required":["days","from","to","time_zone"],"properties":{"days":{"type":"array","items":{"type":"string","enum":["mon","tue","wed","thu","fri","sat","sun"]},"minItems":1,"maxItems":7,"uniqueItems":true,"description":"The days on which the hours begin.","examples":[["sat","sun"]]},"from":{"type":"string","pattern":"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$","maxLength":5,"description":"`HH:MM`; if the clock skips it, the first moment after it.","examples":["02:00"]},"to":{"type":"string","pattern":"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$","maxLength":5,"description":"`HH:MM`, of the next day if it is before `from`; `24:00` is the end of the day.","examples":["06:00"]},"time_zone":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":64,"description":"The time zone of `from` and `to`.","examples":["Europe/Berlin"]}},"additionalProperties":false}},"additionalProperties":false},
  postPrometheusAlerts: {"type":"array","items":{},"maxItems":1000,"description":"Each has `labels` (texts by name, at least one with a value), and optionally `annotations` (texts by name), `startsAt` and `endsAt` (RFC 3339). Unknown keys are ignored.","examples":[[{"labels":{"alertname":"DiskFull","instance":"192.0.2.10:9100","severity":"critical"},"annotations":{"summary":"The disk is full"}}]]},
  postAlertmanagerNotification: {"type":"object","required":["alerts"],"properties":{"version":{"type":"string","enum":["4"],"description":"Of the format."},"receiver":{"type":"string","description":"With `groupKey` and `externalURL`: the group."},"groupKey":{"type":"string","description":"While the group is heard of, its alerts fire."},"truncatedAlerts":{"type":"integer","minimum":0,"description":"How many alerts of the group were left out.","format":"int64"},"externalURL":{"type":"string","description":"The address of the Alertmanager."},"alerts":{"type":"array","items":{},"maxItems":1000,"description":"Each has `labels` (texts by name, at least one with a value), and optionally `annotations` (texts by name), `startsAt` and `endsAt` (RFC 3339). Unknown keys are ignored.","examples":[[{"status":"firing","labels":{"alertname":"DiskFull","instance":"192.0.2.10:9100","severity":"critical"}}]]}},"description":"The JSON of a webhook of version 4. Unknown keys are ignored."},
  postAlertmanagerSilence: {"type":"object","required":["matchers","startsAt","endsAt","createdBy","comment"],"properties":{"id":{"type":"string","maxLength":64,"description":"The id of a silence that ends when this one is created."},"matchers":{"type":"array","items":{"type":"object","required":["name","value","isRegex"],"properties":{"name":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":128,"examples":["alertname"]},"value":{"type":"string","pattern":"^[^\\x00]*$","maxLength":1024,"examples":["DiskFull"]},"isRegex":{"type":"boolean"},"isEqual":{"type":"boolean","default":true}}},"minItems":1,"maxItems":32,"description":"All of them must match; one at least not an empty text."},"startsAt":{"type":"string","format":"date-time","maxLength":64},"endsAt":{"type":"string","format":"date-time","maxLength":64,"description":"At most 30 days after `startsAt`."},"createdBy":{"type":"string","maxLength":1024,"description":"Without effect in a request: the name of the caller."},"comment":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":1024,"description":"The reason of the silence."}}},
  putHeartbeat: {"type":"object","properties":{"every_seconds":{"type":"integer","minimum":30,"maximum":2678400,"description":"The longest time between two beats.","examples":[86400]},"schedule":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":128,"description":"When a run begins, instead of `every_seconds`: five cron fields, such as `0 2 * * *`."},"time_zone":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":64,"description":"The time zone of the schedule, such as `Europe/Berlin`; UTC by default."},"grace_seconds":{"type":"integer","minimum":0,"maximum":604800,"description":"How long a beat may be late.","examples":[600]},"max_run_seconds":{"type":"integer","minimum":1,"maximum":2678400,"description":"The longest time from a start to its end.","examples":[3600]},"severity":{"type":"string","maxLength":16,"description":"Case-insensitive: one of CRITICAL, HIGH, ERROR, WARNING, INFO.","examples":["HIGH"]},"source":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":128,"description":"Source of the alert of a missed heartbeat.","examples":["platform.backup"]}},"additionalProperties":false},
  createTicket: {"type":"object","required":["title","level"],"properties":{"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":200,"examples":["The shop does not answer"]},"level":{"type":"string","enum":["critical","high","medium","low","info"],"description":"How urgent the ticket is."},"description":{"type":"string","pattern":"^[^\\x00]*$","maxLength":16384},"source":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":128,"description":"The system that the ticket is about.","examples":["platform.backup"]},"assignee":{"type":["string","null"],"pattern":"^[^\\x00]*$","minLength":1,"maxLength":64,"description":"Id of the user who works on it."},"dedup_key":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":128,"description":"While a ticket with this key is not closed, no other ticket with the key is created.","examples":["backup.failed.critical"]}},"additionalProperties":false},
  editTicket: {"type":"object","properties":{"status":{"type":"string","enum":["open","in_progress","resolved","closed"],"description":"The state of the work on the ticket."},"level":{"type":"string","enum":["critical","high","medium","low","info"],"description":"How urgent the ticket is."},"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":200,"examples":["The shop does not answer"]},"comment":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":4096},"assignee":{"type":["string","null"],"pattern":"^[^\\x00]*$","minLength":1,"maxLength":64,"description":"Id of the user who works on it."}},"additionalProperties":false,"minProperties":1},
  editMenus: {"type":"object","required":["items"],"properties":{"items":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$","description":"The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.","examples":["shop-products"]},"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":100,"examples":["Products"]},"parent_id":{"type":["string","null"],"pattern":"^[A-Za-z0-9._-]{1,64}$","description":"Null at the top.","examples":["shop-products"]},"path":{"type":["string","null"],"pattern":"^/[^\\x00]*$","maxLength":256,"description":"Begins with `/`.","examples":["/products"]},"icon":{"type":["string","null"],"pattern":"^[^\\x00]*$","maxLength":64,"examples":["box"]},"position":{"type":"integer","minimum":0,"maximum":1000000,"description":"Orders the children of one parent; where it is equal, the id does."},"enabled":{"type":"boolean","description":"A disabled node hides all that is below it."},"children":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$","description":"The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.","examples":["shop-products"]},"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":100,"examples":["Products"]},"parent_id":{"type":["string","null"],"pattern":"^[A-Za-z0-9._-]{1,64}$","description":"Null at the top.","examples":["shop-products"]},"path":{"type":["string","null"],"pattern":"^/[^\\x00]*$","maxLength":256,"description":"Begins with `/`.","examples":["/products"]},"icon":{"type":["string","null"],"pattern":"^[^\\x00]*$","maxLength":64,"examples":["box"]},"position":{"type":"integer","minimum":0,"maximum":1000000,"description":"Orders the children of one parent; where it is equal, the id does."},"enabled":{"type":"boolean","description":"A disabled node hides all that is below it."},"children":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$","description":"The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.","examples":["shop-products"]},"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":100,"examples":["Products"]},"parent_id":{"type":["string","null"],"pattern":"^[A-Za-z0-9._-]{1,64}$","description":"Null at the top.","examples":["shop-products"]},"path":{"type":["string","null"],"pattern":"^/[^\\x00]*$","maxLength":256,"description":"Begins with `/`.","examples":["/products"]},"icon":{"type":["string","null"],"pattern":"^[^\\x00]*$","maxLength":64,"examples":["box"]},"position":{"type":"integer","minimum":0,"maximum":1000000,"description":"Orders the children of one parent; where it is equal, the id does."},"enabled":{"type":"boolean","description":"A disabled node hides all that is below it."},"children":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$","description":"The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.","examples":["shop-products"]},"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":100,"examples":["Products"]},"parent_id":{"type":["string","null"],"pattern":"^[A-Za-z0-9._-]{1,64}$","description":"Null at the top.","examples":["shop-products"]},"path":{"type":["string","null"],"pattern":"^/[^\\x00]*$","maxLength":256,"description":"Begins with `/`.","examples":["/products"]},"icon":{"type":["string","null"],"pattern":"^[^\\x00]*$","maxLength":64,"examples":["box"]},"position":{"type":"integer","minimum":0,"maximum":1000000,"description":"Orders the children of one parent; where it is equal, the id does."},"enabled":{"type":"boolean","description":"A disabled node hides all that is below it."},"children":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$","description":"The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.","examples":["shop-products"]},"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":100,"examples":["Products"]},"parent_id":{"type":["string","null"],"pattern":"^[A-Za-z0-9._-]{1,64}$","description":"Null at the top.","examples":["shop-products"]},"path":{"type":["string","null"],"pattern":"^/[^\\x00]*$","maxLength":256,"description":"Begins with `/`.","examples":["/products"]},"icon":{"type":["string","null"],"pattern":"^[^\\x00]*$","maxLength":64,"examples":["box"]},"position":{"type":"integer","minimum":0,"maximum":1000000,"description":"Orders the children of one parent; where it is equal, the id does."},"enabled":{"type":"boolean","description":"A disabled node hides all that is below it."},"children":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$","description":"The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.","examples":["shop-products"]},"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":100,"examples":["Products"]},"parent_id":{"type":["string","null"],"pattern":"^[A-Za-z0-9._-]{1,64}$","description":"Null at the top.","examples":["shop-products"]},"path":{"type":["string","null"],"pattern":"^/[^\\x00]*$","maxLength":256,"description":"Begins with `/`.","examples":["/products"]},"icon":{"type":["string","null"],"pattern":"^[^\\x00]*$","maxLength":64,"examples":["box"]},"position":{"type":"integer","minimum":0,"maximum":1000000,"description":"Orders the children of one parent; where it is equal, the id does."},"enabled":{"type":"boolean","description":"A disabled node hides all that is below it."},"children":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$","description":"The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.","examples":["shop-products"]},"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":100,"examples":["Products"]},"parent_id":{"type":["string","null"],"pattern":"^[A-Za-z0-9._-]{1,64}$","description":"Null at the top.","examples":["shop-products"]},"path":{"type":["string","null"],"pattern":"^/[^\\x00]*$","maxLength":256,"description":"Begins with `/`.","examples":["/products"]},"icon":{"type":["string","null"],"pattern":"^[^\\x00]*$","maxLength":64,"examples":["box"]},"position":{"type":"integer","minimum":0,"maximum":1000000,"description":"Orders the children of one parent; where it is equal, the id does."},"enabled":{"type":"boolean","description":"A disabled node hides all that is below it."},"children":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$","description":"The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.","examples":["shop-products"]},"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":100,"examples":["Products"]},"parent_id":{"type":["string","null"],"pattern":"^[A-Za-z0-9._-]{1,64}$","description":"Null at the top.","examples":["shop-products"]},"path":{"type":["string","null"],"pattern":"^/[^\\x00]*$","maxLength":256,"description":"Begins with `/`.","examples":["/products"]},"icon":{"type":["string","null"],"pattern":"^[^\\x00]*$","maxLength":64,"examples":["box"]},"position":{"type":"integer","minimum":0,"maximum":1000000,"description":"Orders the children of one parent; where it is equal, the id does."},"enabled":{"type":"boolean","description":"A disabled node hides all that is below it."},"children":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$","description":"The client chooses it; 1 to 64 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.","examples":["shop-products"]},"title":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":100,"examples":["Products"]},"parent_id":{"type":["string","null"],"pattern":"^[A-Za-z0-9._-]{1,64}$","description":"Null at the top.","examples":["shop-products"]},"path":{"type":["string","null"],"pattern":"^/[^\\x00]*$","maxLength":256,"description":"Begins with `/`.","examples":["/products"]},"icon":{"type":["string","null"],"pattern":"^[^\\x00]*$","maxLength":64,"examples":["box"]},"position":{"type":"integer","minimum":0,"maximum":1000000,"description":"Orders the children of one parent; where it is equal, the id does."},"enabled":{"type":"boolean","description":"A disabled node hides all that is below it."},"children":{"type":"array","items":{},"maxItems":10000}},"additionalProperties":false},"maxItems":10000}},"additionalProperties":false},"maxItems":10000}},"additionalProperties":false},"maxItems":10000}},"additionalProperties":false},"maxItems":10000}},"additionalProperties":false},"maxItems":10000}},"additionalProperties":false},"maxItems":10000}},"additionalProperties":false},"maxItems":10000}},"additionalProperties":false},"maxItems":10000}},"additionalProperties":false},"maxItems":10000,"description":"Nodes to create and to change, nested or flat, in any order. A new one needs `title`."},"replace":{"type":"boolean","description":"Deletes the nodes that no item names."},"dry_run":{"type":"boolean","description":"Changes nothing; the answer is the same."}},"additionalProperties":false},
  registerCertificate: {"type":"object","required":["name","pem"],"properties":{"name":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":100,"examples":["shop.example.com"]},"pem":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":1000000,"description":"The certificate in PEM (RFC 7468), then its chain: up to 20 certificates. Text around the blocks is ignored. A private key is refused."}},"additionalProperties":false},
  revokeCertificate: {"type":"object","properties":{"reason":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":1024,"examples":["The key was lost."]}},"additionalProperties":false},
  createDataBackup: {"type":"object","properties":{"note":{"type":"string","pattern":"^[^\\x00]*$","maxLength":1000,"description":"For people.","examples":["before the upgrade"]}},"additionalProperties":false},
  pruneDataBackups: {"type":"object","required":["keep"],"properties":{"keep":{"type":"integer","minimum":1,"maximum":1000,"description":"How many completed backups stay.","examples":[7]}},"additionalProperties":false},
  sendTelemetry: {"type":"object","required":["agent_id"],"properties":{"agent_id":{"type":"string","pattern":"^[A-Za-z0-9_-]{1,64}$","description":"The last part of the subject of its events; 1 to 64 of `A-Z a-z 0-9 _ -`.","examples":["press-7"]},"at":{"type":"string","format":"date-time","maxLength":64,"description":"When it was measured; now when left out. RFC 3339 with any offset."},"data":{"type":"object","maxProperties":200000,"description":"What the agent has measured."},"items":{"type":"array","items":{"type":"object","required":["data"],"properties":{"at":{"type":"string","format":"date-time","maxLength":64,"description":"When it was measured; now when left out. RFC 3339 with any offset."},"data":{"type":"object","maxProperties":200000,"description":"What the agent has measured."}},"additionalProperties":false},"minItems":1,"maxItems":500,"description":"Up to 500 items, in place of `at` and `data`."}},"additionalProperties":false},
  executeCommand: {"type":"object","properties":{"params":{"type":"object","maxProperties":100,"description":"By name. A parameter that is left out has its default.","examples":[{"unit":"nginx"}]},"reason":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":1024,"description":"Required where another person has to approve."},"dry_run":{"type":"boolean","description":"Only check the request."}},"additionalProperties":false},
  approveExecution: {"type":"object","properties":{"comment":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":1024}},"additionalProperties":false},
  rejectExecution: {"type":"object","properties":{"comment":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":1024}},"additionalProperties":false},
  setCommandPolicy: {"type":"object","required":["rules"],"properties":{"rules":{"type":"object","additionalProperties":{"type":"object","required":["roles"],"properties":{"roles":{"type":"array","items":{"type":"string","enum":["admin","devops","service","auditor"]},"uniqueItems":true,"maxItems":4},"approvers":{"type":"array","items":{"type":"string","enum":["admin","devops","service","auditor"]},"uniqueItems":true,"maxItems":4},"approval":{"type":"string","enum":["none","two_person"],"description":"`two_person`: another person has to approve each request."}},"additionalProperties":false},"maxProperties":1000,"description":"By the id of the command: the roles that may run it; the roles that may decide on its requests (admin when left out); the approval that it needs (that of the command when left out). Without a rule only admin may run a command.","examples":[{"orders.expire-due":{"roles":["admin","devops"]}}]}},"additionalProperties":false},
  createWebhook: {"type":"object","required":["url","subjects"],"properties":{"url":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":2048,"description":"An `https` address without user and password; `http` only in the networks of `webhooks.allow_private`.","examples":["https://shop.example.org/hooks"]},"subjects":{"type":"array","items":{"type":"string","pattern":"^(?:[A-Za-z0-9_.-]{1,255}|[A-Za-z0-9_.-]{0,254}\\*)$","maxLength":255,"examples":["order.*"]},"minItems":1,"maxItems":50,"description":"Subjects of events and of messages, each exact (`order.paid`) or a prefix that ends in `*`."},"description":{"type":"string","pattern":"^[^\\x00]*$","maxLength":500,"description":"For people.","examples":["the warehouse"]},"ordered":{"type":"boolean","description":"Whether the events of one thing arrive one after the other, in their order."},"enabled":{"type":"boolean","description":"A disabled webhook gets nothing; what happens meanwhile is sent by `recover` only."}},"additionalProperties":false},
  editWebhook: {"type":"object","properties":{"url":{"type":"string","pattern":"^[^\\x00]*$","minLength":1,"maxLength":2048,"description":"An `https` address without user and password; `http` only in the networks of `webhooks.allow_private`.","examples":["https://shop.example.org/hooks"]},"subjects":{"type":"array","items":{"type":"string","pattern":"^(?:[A-Za-z0-9_.-]{1,255}|[A-Za-z0-9_.-]{0,254}\\*)$","maxLength":255,"examples":["order.*"]},"minItems":1,"maxItems":50,"description":"Subjects of events and of messages, each exact (`order.paid`) or a prefix that ends in `*`."},"description":{"type":"string","pattern":"^[^\\x00]*$","maxLength":500,"description":"For people.","examples":["the warehouse"]},"ordered":{"type":"boolean","description":"Whether the events of one thing arrive one after the other, in their order."},"enabled":{"type":"boolean","description":"A disabled webhook gets nothing; what happens meanwhile is sent by `recover` only."}},"additionalProperties":false,"minProperties":1},
  recoverWebhook: {"type":"object","required":["since"],"properties":{"since":{"type":"string","format":"date-time","maxLength":64,"description":"Not before the log begins: `messages.keep`. RFC 3339 with any offset.","examples":["2099-01-31T03:00:00+01:00"]}},"additionalProperties":false},
} as const
