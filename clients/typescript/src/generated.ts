// Generated from the OpenAPI document of the platform. Run `node scripts/docs.ts` to write it again.

export interface Schemas {
  Message: { readonly "id": string; readonly "subject": string; readonly "payload": unknown; readonly "headers": { readonly [name: string]: string }; readonly "status": "pending" | "delivered" | "dead"; readonly "attempts": number; readonly "last_error": string | null; readonly "cause": { readonly "code": "too_large" | "headers_too_large" | "not_permitted" | "no_stream" | "bad_subject"; readonly "values": { readonly [name: string]: unknown } } | null; readonly "created_at": string; readonly "delivered_at": string | null }
  Order: { readonly "order_id": string; readonly "platform": string; readonly "amount_cents": number; readonly "status": "pending" | "paid" | "shipped" | "completed" | "expired"; readonly "expires_at": string; readonly "created_at": string; readonly "updated_at": string; readonly "paid_at": string | null; readonly "shipped_at": string | null; readonly "completed_at": string | null; readonly "expired_at": string | null; readonly "version": number }
  CreatedOrder: { readonly "order_id": string; readonly "platform": string; readonly "amount_cents": number; readonly "status": "pending" | "paid" | "shipped" | "completed" | "expired"; readonly "expires_at": string; readonly "created_at": string; readonly "updated_at": string; readonly "paid_at": string | null; readonly "shipped_at": string | null; readonly "completed_at": string | null; readonly "expired_at": string | null; readonly "version": number; readonly "warning"?: { readonly "code": "expires_at_in_past"; readonly "message": string } }
  NewPayment: { readonly "id": string; readonly "order_id": string | null; readonly "channel": string; readonly "status": "creating" | "open" | "paid" | "closed" | "failed"; readonly "amount_cents": number; readonly "currency": string; readonly "number": string; readonly "provider_id": string | null; readonly "paid_cents": number | null; readonly "refunded_cents": number; readonly "attention": "late" | "duplicate" | "amount_mismatch" | "unknown_order" | null; readonly "needs_person": boolean; readonly "created_at": string; readonly "paid_at": string | null; readonly "closed_at": string | null; readonly "failed_reason": string | null; readonly "version": number; readonly "action"?: { readonly "type": "redirect" | "qr_code"; readonly "url": string; readonly "expires_at": string } | null }
  Payment: { readonly "id": string; readonly "order_id": string | null; readonly "channel": string; readonly "status": "creating" | "open" | "paid" | "closed" | "failed"; readonly "amount_cents": number; readonly "currency": string; readonly "number": string; readonly "provider_id": string | null; readonly "paid_cents": number | null; readonly "refunded_cents": number; readonly "attention": "late" | "duplicate" | "amount_mismatch" | "unknown_order" | null; readonly "needs_person": boolean; readonly "created_at": string; readonly "paid_at": string | null; readonly "closed_at": string | null; readonly "failed_reason": string | null; readonly "version": number }
  Refund: { readonly "id": string; readonly "payment_id": string; readonly "channel": string; readonly "number": string; readonly "status": "pending" | "succeeded" | "failed"; readonly "amount_cents": number; readonly "reason": string; readonly "provider_id": string | null; readonly "failed_reason": string | null; readonly "created_at": string; readonly "created_by": string; readonly "finished_at": string | null }
  Reconciliation: { readonly "id": string; readonly "channel": string; readonly "date": string; readonly "status": "running" | "matched" | "differs" | "failed"; readonly "matched": number; readonly "differences": number; readonly "error": string | null; readonly "created_at": string; readonly "finished_at": string | null; readonly "requested_by": string }
  PaymentDifference: { readonly "kind": "missing_here" | "missing_there" | "amount_differs" | "status_differs"; readonly "type": "payment" | "refund"; readonly "number": string; readonly "payment_id": string | null; readonly "here_status": string | null; readonly "here_cents": number | null; readonly "there_status": string | null; readonly "there_cents": number | null; readonly "provider_id": string | null }
  AuditEntry: { readonly "id": string; readonly "at": string; readonly "actor": { readonly "id": string; readonly "name": string; readonly "kind": "user" | "token" | "local" | "system" }; readonly "operation": string; readonly "target": { readonly "kind": string; readonly "id": string | null }; readonly "request_id": string | null; readonly "remote_address": string | null; readonly "changes": { readonly [name: string]: readonly (unknown)[] }; readonly "outcome": "done" | "refused" | "failed" }
  AuditSeal: { readonly "seal": string | null }
  Login: { readonly "access_token": string; readonly "token_type": "Bearer"; readonly "expires_in": number; readonly "user": Schemas['User'] }
  User: { readonly "id": string; readonly "name": string; readonly "roles": readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "enabled": boolean; readonly "created_at": string; readonly "updated_at": string; readonly "last_login_at": string | null }
  Me: { readonly "id": string; readonly "name": string; readonly "roles": readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "enabled"?: boolean; readonly "created_at"?: string; readonly "updated_at"?: string; readonly "last_login_at"?: string | null }
  UserNames: { readonly "items": readonly ({ readonly "id": string; readonly "name": string })[] }
  Error: { readonly "code": "agent_not_found" | "alert_not_found" | "amount_not_payable" | "api_unavailable" | "backup_directory_unavailable" | "backup_file_not_found" | "backup_not_found" | "backup_running" | "bad_signature" | "certificate_busy" | "certificate_exists" | "certificate_file_unavailable" | "certificate_not_found" | "channel_not_found" | "command_not_found" | "delivery_not_found" | "draining" | "execution_not_found" | "forbidden" | "forbidden_variable" | "heartbeat_not_found" | "idempotency_key_reused" | "internal" | "invalid_certificate" | "invalid_credentials" | "invalid_transition" | "last_admin" | "malformed_json" | "menu_cycle" | "menu_has_children" | "menu_not_found" | "message_not_found" | "method_not_allowed" | "mirror_outdated" | "no_longer_allowed" | "no_space" | "not_a_session" | "nothing_to_resolve" | "order_exists" | "order_not_found" | "own_request" | "payload_too_large" | "payment_not_found" | "ping_not_found" | "pool_exhausted" | "pool_overlap" | "precondition_failed" | "private_key_refused" | "range_not_satisfiable" | "rate_limited" | "read_only" | "receiver_not_found" | "reconciliation_not_found" | "reconciliation_running" | "refund_too_large" | "reserved_subject" | "route_not_found" | "session_not_found" | "sign_in_not_configured" | "silence_not_found" | "store_unavailable" | "ticket_not_found" | "token_not_found" | "too_many_streams" | "too_many_tokens" | "too_many_webhooks" | "unauthenticated" | "unsupported_media_type" | "upgrade_required" | "url_refused" | "user_disabled" | "user_exists" | "user_not_found" | "users_mirrored" | "validation_failed" | "webhook_disabled" | "webhook_not_found"; readonly "message": string; readonly "details"?: readonly ({ readonly "path": string; readonly "code": string; readonly "values"?: { readonly [name: string]: unknown }; readonly "message": string })[]; readonly "values"?: { readonly [name: string]: unknown } }
  NewApiToken: { readonly "id": string; readonly "name": string; readonly "roles": readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "created_at": string; readonly "expires_at": string; readonly "last_used_at": string | null; readonly "last_used_from": string | null; readonly "token": string | null }
  ApiToken: { readonly "id": string; readonly "name": string; readonly "roles": readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "created_at": string; readonly "expires_at": string; readonly "last_used_at": string | null; readonly "last_used_from": string | null }
  UserChanges: { readonly "revision": number; readonly "full": boolean; readonly "more": boolean; readonly "pool": string; readonly "items": readonly ({ readonly "id": string; readonly "name": string; readonly "roles": readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "enabled": boolean; readonly "token_generation": number; readonly "deleted": boolean })[] }
  VpnPool: { readonly "cidr": string; readonly "size": number; readonly "used": number; readonly "cooling": number; readonly "free": number }
  VpnSession: { readonly "id": string; readonly "user": { readonly "id": string; readonly "name": string }; readonly "device": string | null; readonly "virtual_ip": string; readonly "gateway": string; readonly "remote_address": string; readonly "connected_at": string; readonly "last_seen_at": string; readonly "rtt_ms": number | null; readonly "closed_at": string | null; readonly "close_code": number | null }
  VpnAuditEntry: { readonly "id": string; readonly "at": string; readonly "event": "session_registered" | "session_closed" | "auth_failed"; readonly "session_id": string | null; readonly "user_id": string | null; readonly "user_name": string | null; readonly "device": string | null; readonly "virtual_ip": string | null; readonly "gateway": string; readonly "remote_address": string | null; readonly "reason": string | null; readonly "cause": { readonly "code": "gateway_restarted" | "gateway_stopping" | "gateway_silent" | "registry_lost" | "connection_lost" | "closed_by_client" | "device_reconnected" | "by_operator" | "signed_out" | "password_changed" | "user_deleted" | "user_disabled" | "roles_changed" | "user_changed_on_primary" | "user_deleted_on_primary" | "no_heartbeat" | "frame_invalid" | "output_unread" | "memory_needed" | "token_expired" | "token_revoked" | "token_invalid" | "renewal_invalid" | "token_too_long" | "no_role" | "authorization_malformed" | "many_refusals"; readonly "values": { readonly [name: string]: unknown } } | null }
  Alert: { readonly "id": string; readonly "alarm_id": string | null; readonly "source": string; readonly "title": string; readonly "body": string; readonly "level": number; readonly "weight": number; readonly "severity": "CRITICAL" | "HIGH" | "ERROR" | "WARNING" | "INFO" | "CLOSE"; readonly "server_addr": string | null; readonly "status": "firing" | "acknowledged" | "recovered" | "frozen"; readonly "count": number; readonly "first_at": string; readonly "last_at": string; readonly "recovered_at": string | null; readonly "runbook_url": string | null; readonly "version": number }
  Silence: { readonly "id": string; readonly "matchers": { readonly "source"?: string; readonly "alarm_id"?: string; readonly "server_addr"?: string; readonly "title"?: string }; readonly "reason": string; readonly "starts_at": string; readonly "ends_at": string; readonly "repeat": { readonly "days": readonly ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[]; readonly "from": string; readonly "to": string; readonly "time_zone": string } | null; readonly "label_matchers": readonly ({ readonly "name": string; readonly "value": string; readonly "is_regex": boolean; readonly "is_equal": boolean })[] | null; readonly "state": "active" | "pending" | "ended"; readonly "created_by": string; readonly "created_at": string; readonly "ended_by": string | null; readonly "version": number }
  SilenceWithWindows: { readonly "id": string; readonly "matchers": { readonly "source"?: string; readonly "alarm_id"?: string; readonly "server_addr"?: string; readonly "title"?: string }; readonly "reason": string; readonly "starts_at": string; readonly "ends_at": string; readonly "repeat": { readonly "days": readonly ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[]; readonly "from": string; readonly "to": string; readonly "time_zone": string } | null; readonly "label_matchers": readonly ({ readonly "name": string; readonly "value": string; readonly "is_regex": boolean; readonly "is_equal": boolean })[] | null; readonly "state": "active" | "pending" | "ended"; readonly "created_by": string; readonly "created_at": string; readonly "ended_by": string | null; readonly "version": number; readonly "windows": readonly ({ readonly "starts_at": string; readonly "ends_at": string })[] }
  Receiver: { readonly "name": string; readonly "kind": string; readonly "state": "ok" | "failing"; readonly "last_success_at": string | null; readonly "last_error": string | null; readonly "pending": number }
  AlertRoute: { readonly "name": string | number; readonly "match": { readonly "source"?: string; readonly "alarm_id"?: string; readonly "server_addr"?: string; readonly "title"?: string }; readonly "min_severity": string | null; readonly "receivers": readonly (string)[]; readonly "repeat_every_seconds": number | null; readonly "escalate": readonly ({ readonly "after_seconds": number; readonly "receivers": readonly (string)[] })[]; readonly "hours": { readonly "days": readonly ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[]; readonly "from": string; readonly "to": string; readonly "time_zone": string; readonly "critical": boolean } | null; readonly "continue": boolean }
  AlertDecision: { readonly "id": string; readonly "at": string; readonly "occasion": "raised" | "risen" | "recovered" | "acknowledgement_lapsed" | "silence_ended" | "inhibition_ended" | "repeated" | "escalated" | "frozen" | "unfrozen" | "damped" | "undamped"; readonly "channel": string; readonly "outcome": "disabled" | "below_level" | "inhibited" | "silenced" | "acknowledged" | "frozen" | "damped" | "superseded" | "pending" | "sent" | "bundled" | "failed"; readonly "reason": string | null; readonly "cause": { readonly "code": "no_robot" | "no_receiver" | "never_pushed" | "below_level" | "inhibited" | "silenced" | "acknowledged" | "frozen" | "damped" | "outside_hours" | "superseded" | "sent" | "bundled"; readonly "values": { readonly [name: string]: unknown } } | null }
  Heartbeat: { readonly "name": string; readonly "every_seconds": number | null; readonly "schedule": string | null; readonly "time_zone": string | null; readonly "grace_seconds": number; readonly "max_run_seconds": number | null; readonly "severity": "CRITICAL" | "HIGH" | "ERROR" | "WARNING" | "INFO"; readonly "source": string; readonly "status": "waiting" | "ok" | "missed"; readonly "last_beat_at": string | null; readonly "due_at": string; readonly "missed_at": string | null; readonly "started_at": string | null; readonly "duration_seconds": number | null; readonly "created_by": string; readonly "created_at": string; readonly "updated_by": string; readonly "updated_at": string; readonly "version": number }
  HeartbeatWithUrl: { readonly "name": string; readonly "every_seconds": number | null; readonly "schedule": string | null; readonly "time_zone": string | null; readonly "grace_seconds": number; readonly "max_run_seconds": number | null; readonly "severity": "CRITICAL" | "HIGH" | "ERROR" | "WARNING" | "INFO"; readonly "source": string; readonly "status": "waiting" | "ok" | "missed"; readonly "last_beat_at": string | null; readonly "due_at": string; readonly "missed_at": string | null; readonly "started_at": string | null; readonly "duration_seconds": number | null; readonly "created_by": string; readonly "created_at": string; readonly "updated_by": string; readonly "updated_at": string; readonly "version": number; readonly "ping_url": string | null }
  HeartbeatPing: { readonly "at": string; readonly "kind": "done" | "start" | "fail" | "exit" | "log"; readonly "exit_code": number | null; readonly "duration_seconds": number | null; readonly "remote_address": string | null; readonly "body": string }
  TicketDetails: { readonly "id": string; readonly "title": string; readonly "level": "critical" | "high" | "medium" | "low" | "info"; readonly "status": "open" | "in_progress" | "resolved" | "closed"; readonly "source": string | null; readonly "assignee": string | null; readonly "comment_count": number; readonly "created_by": string; readonly "created_at": string; readonly "updated_at": string; readonly "resolved_at": string | null; readonly "closed_at": string | null; readonly "version": number; readonly "description": string | null; readonly "comments": readonly ({ readonly "id": string; readonly "at": string; readonly "author": string; readonly "text": string })[] }
  Ticket: { readonly "id": string; readonly "title": string; readonly "level": "critical" | "high" | "medium" | "low" | "info"; readonly "status": "open" | "in_progress" | "resolved" | "closed"; readonly "source": string | null; readonly "assignee": string | null; readonly "comment_count": number; readonly "created_by": string; readonly "created_at": string; readonly "updated_at": string; readonly "resolved_at": string | null; readonly "closed_at": string | null; readonly "version": number }
  MenuTree: { readonly "revision": number; readonly "items": readonly ({ readonly "id": string; readonly "title": string; readonly "parent_id": string | null; readonly "path": string | null; readonly "icon": string | null; readonly "position": number; readonly "enabled": boolean; readonly "created_at": string; readonly "updated_at": string; readonly "children"?: readonly ({ readonly "id": string; readonly "title": string; readonly "parent_id": string | null; readonly "path": string | null; readonly "icon": string | null; readonly "position": number; readonly "enabled": boolean; readonly "created_at": string; readonly "updated_at": string; readonly "children"?: readonly ({ readonly "id": string; readonly "title": string; readonly "parent_id": string | null; readonly "path": string | null; readonly "icon": string | null; readonly "position": number; readonly "enabled": boolean; readonly "created_at": string; readonly "updated_at": string; readonly "children"?: readonly ({ readonly "id": string; readonly "title": string; readonly "parent_id": string | null; readonly "path": string | null; readonly "icon": string | null; readonly "position": number; readonly "enabled": boolean; readonly "created_at": string; readonly "updated_at": string; readonly "children"?: readonly ({ readonly "id": string; readonly "title": string; readonly "parent_id": string | null; readonly "path": string | null; readonly "icon": string | null; readonly "position": number; readonly "enabled": boolean; readonly "created_at": string; readonly "updated_at": string; readonly "children"?: readonly ({ readonly "id": string; readonly "title": string; readonly "parent_id": string | null; readonly "path": string | null; readonly "icon": string | null; readonly "position": number; readonly "enabled": boolean; readonly "created_at": string; readonly "updated_at": string; readonly "children"?: readonly ({ readonly "id": string; readonly "title": string; readonly "parent_id": string | null; readonly "path": string | null; readonly "icon": string | null; readonly "position": number; readonly "enabled": boolean; readonly "created_at": string; readonly "updated_at": string; readonly "children"?: readonly ({ readonly "id": string; readonly "title": string; readonly "parent_id": string | null; readonly "path": string | null; readonly "icon": string | null; readonly "position": number; readonly "enabled": boolean; readonly "created_at": string; readonly "updated_at": string; readonly "children"?: readonly (unknown)[] })[] })[] })[] })[] })[] })[] })[] })[] }
  MenuChange: { readonly "revision": number; readonly "created": readonly (string)[]; readonly "updated": readonly (string)[]; readonly "moved": readonly (string)[]; readonly "unchanged": readonly (string)[]; readonly "deleted": readonly (string)[] }
  Certificate: { readonly "id": string; readonly "name": string; readonly "fingerprint_sha256": string; readonly "serial": string; readonly "subject": string; readonly "issuer": string; readonly "names": readonly (string)[]; readonly "not_before": string; readonly "not_after": string; readonly "days_left": number; readonly "key": string; readonly "signature": string; readonly "is_ca": boolean; readonly "chain": readonly ({ readonly "fingerprint_sha256": string; readonly "subject": string; readonly "issuer"?: string; readonly "not_after": string })[]; readonly "status": "valid" | "not_yet_valid" | "expiring" | "expired" | "revoked" | "replaced"; readonly "warnings": readonly ("weak_key" | "weak_signature" | "self_signed" | "ca_as_leaf" | "chain_order" | "chain_broken" | "chain_expires_first")[]; readonly "replaced_by": string | null; readonly "revoked_at": string | null; readonly "revoke_reason": string | null; readonly "created_by": string; readonly "created_at": string; readonly "version": number }
  DataBackup: { readonly "id": string; readonly "status": "running" | "completed" | "failed"; readonly "size_bytes": number | null; readonly "sha256": string | null; readonly "tables": { readonly [name: string]: number } | null; readonly "schema_version": string | null; readonly "created_at": string; readonly "finished_at": string | null; readonly "verified_at": string | null; readonly "error": string | null; readonly "note": string | null; readonly "requested_by": string; readonly "version": number }
  TelemetryAgent: { readonly "agent_id": string; readonly "first_at": string; readonly "last_at": string; readonly "items": number }
  Command: { readonly "id": string; readonly "title": string; readonly "description": string; readonly "params": { readonly [name: string]: unknown }; readonly "approval": "none" | "two_person"; readonly "timeout_seconds": number }
  CommandDryRun: { readonly "would_run": readonly (string)[]; readonly "approval": "none" | "two_person"; readonly "timeout_seconds": number }
  Execution: { readonly "id": string; readonly "command_id": string; readonly "title"?: string | null; readonly "would_run"?: readonly (string)[] | null; readonly "approvers"?: readonly ("admin" | "devops" | "service" | "auditor")[] | null; readonly "params": { readonly [name: string]: unknown }; readonly "reason": string | null; readonly "requested_by": string; readonly "status": "awaiting_approval" | "queued" | "running" | "succeeded" | "failed" | "timed_out" | "cancelled" | "incomplete" | "rejected" | "expired" | "interrupted"; readonly "status_reason": "no_longer_allowed" | "not_started" | null; readonly "approvals": readonly ({ readonly "at": string; readonly "by": string; readonly "decision": "approved" | "rejected"; readonly "comment": string | null })[]; readonly "exit_code": number | null; readonly "signal": string | null; readonly "output": string; readonly "output_truncated": boolean; readonly "host": string | null; readonly "containment": "pid_namespace" | "process_scan" | null; readonly "cancelled_by": string | null; readonly "created_at": string; readonly "started_at": string | null; readonly "finished_at": string | null; readonly "expires_at": string | null; readonly "version": number }
  CommandPolicy: { readonly "revision": number; readonly "rules": { readonly [name: string]: { readonly "roles": readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "approvers"?: readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "approval"?: "none" | "two_person" } } }
  WebhookWithSecret: { readonly "id": string; readonly "url": string; readonly "subjects": readonly (string)[]; readonly "description": string; readonly "ordered": boolean; readonly "enabled": boolean; readonly "disabled_reason": "by_hand" | "gone" | "failing" | null; readonly "version": number; readonly "pending": number; readonly "failing_since": string | null; readonly "last_success_at": string | null; readonly "former_secret_until": string | null; readonly "created_at": string; readonly "created_by": string; readonly "updated_at": string; readonly "updated_by": string; readonly "secret": string | null }
  Webhook: { readonly "id": string; readonly "url": string; readonly "subjects": readonly (string)[]; readonly "description": string; readonly "ordered": boolean; readonly "enabled": boolean; readonly "disabled_reason": "by_hand" | "gone" | "failing" | null; readonly "version": number; readonly "pending": number; readonly "failing_since": string | null; readonly "last_success_at": string | null; readonly "former_secret_until": string | null; readonly "created_at": string; readonly "created_by": string; readonly "updated_at": string; readonly "updated_by": string }
  WebhookDelivery: { readonly "id": string; readonly "event_id": string; readonly "type": string; readonly "status": "pending" | "delivered" | "failed"; readonly "attempts": number; readonly "created_at": string; readonly "due_at": string | null; readonly "tried_at": string | null; readonly "finished_at": string | null; readonly "response_status": number | null; readonly "response_headers": readonly (string)[] | null; readonly "response_body": string | null; readonly "error": "address_refused" | "name_not_resolved" | "connection_refused" | "connection_failed" | "tls_failed" | "timeout" | "invalid_answer" | "event_removed" | "interrupted" | null }
  Overview: { readonly "at": string; readonly "orders": { readonly "pending": number; readonly "paid": number; readonly "shipped": number; readonly "completed": number; readonly "expired": number } | null; readonly "messages": { readonly "pending": number; readonly "oldest_pending_at": string | null; readonly "dead": number; readonly "oldest_dead_at": string | null } | null; readonly "alerts": { readonly "CRITICAL": number; readonly "HIGH": number; readonly "ERROR": number; readonly "WARNING": number; readonly "INFO": number } | null; readonly "heartbeats": { readonly "late": number; readonly "items": readonly ({ readonly "name": string; readonly "last_beat_at": string | null; readonly "missed_at": string | null })[] } | null; readonly "tickets": { readonly "critical": number; readonly "high": number; readonly "medium": number; readonly "low": number; readonly "info": number } | null; readonly "sessions": { readonly "open": number } | null; readonly "pool": { readonly "cidr": string; readonly "size": number; readonly "used": number; readonly "cooling": number; readonly "free": number } | null; readonly "certificates": { readonly "expiring": number; readonly "expired": number; readonly "items": readonly ({ readonly "id": string; readonly "name": string; readonly "not_after": string; readonly "days_left": number })[] } | null; readonly "data_backups": { readonly "last": { readonly "id": string; readonly "status": "running" | "completed" | "failed"; readonly "size_bytes": number | null; readonly "created_at": string; readonly "finished_at": string | null; readonly "verified_at": string | null; readonly "error": string | null } | null; readonly "backup_every_seconds": number | null } | null; readonly "night": { readonly "last": { readonly "status": "running" | "succeeded" | "failed" | "lost"; readonly "started_at": string | null; readonly "succeeded_at": string | null; readonly "failed_at": string | null; readonly "alert_id": string | null } | null } | null; readonly "drill": { readonly "status": "waiting" | "ok" | "missed" | null; readonly "last_passed_at": string | null; readonly "due_at": string | null } | null; readonly "executions": { readonly "awaiting_approval": number; readonly "oldest_at": string | null } | null; readonly "payments": { readonly "channels": readonly (string)[]; readonly "attention": number; readonly "oldest_at": string | null } | null }
  OverviewSeries: { readonly "from": string; readonly "to": string; readonly "step_seconds": number; readonly "items": readonly ({ readonly "at": string; readonly "created": number | null; readonly "paid": number | null; readonly "shipped": number | null; readonly "completed": number | null; readonly "expired": number | null; readonly "firing_alerts": number | null; readonly "open_sessions": number | null })[] }
  Config: { readonly "file": string | null; readonly "items": readonly ({ readonly "key": string; readonly "value": string; readonly "source": string; readonly "description": string | null })[] }
  DoctorReport: { readonly "status": "ok" | "warning" | "error"; readonly "examined_at": string; readonly "findings": readonly ({ readonly "check": string; readonly "subject": string; readonly "result": "skipped" | "ok" | "warning" | "error"; readonly "detail": string; readonly "remedy": string | null; readonly "cause": { readonly "code": "check_failed" | "configuration_invalid" | "configuration_empty" | "configuration_writable" | "configuration_readable" | "secrets_unusable" | "environment_not_loaded" | "variable_unknown" | "service_failed" | "service_restarts" | "service_stopped" | "service_unstable" | "service_read_only" | "service_user_missing" | "data_dir_broken" | "data_dir_no_directory" | "data_dir_of_root" | "data_dir_of_other" | "data_dir_open" | "data_dir_copied" | "files_of_other" | "files_unreadable" | "files_writable" | "key_readable" | "key_refused" | "key_lost" | "key_changed" | "key_replaced" | "audit_key_lost" | "seal_missing" | "access_denied" | "access_denied_above" | "port_in_use" | "port_unusable" | "platform_failing" | "platform_outdated" | "tls_missing" | "tls_ends" | "tls_unusable" | "clock_before_migration" | "clock_ahead" | "clock_behind" | "disk_full" | "disk_low" | "disk_too_small" | "log_disk_low" | "log_deleted" | "inodes_low" | "disk_of_network" | "server_unreachable" | "server_former_primary" | "file_left" | "lock_held" | "database_elsewhere" | "database_gone" | "database_absent" | "database_newer" | "database_unusable" | "database_damaged" | "rows_lost" | "database_read_only" | "schema_pending" | "schema_newer" | "database_setting" | "releases_differ" | "buses_differ" | "bus_of_others" | "process_of_other_database" | "data_dirs_differ" | "engine_near_end" | "worker_missing" | "orders_overdue" | "payments_failing" | "bus_unreachable" | "bus_stopped" | "bus_certificate_refused" | "bus_login_refused" | "bus_is_other_program" | "bus_unanswered" | "bus_host_unknown" | "bus_lost" | "bus_unstored" | "bus_payload_small" | "jetstream_off" | "jetstream_off_since" | "stream_full" | "stream_silent" | "messages_wait" | "messages_unsent" | "messages_dead" | "certificates_ended" | "certificates_end_soon" | "certificate_files_lost" | "receiver_outdated" | "receiver_failing" | "receiver_never_reached" | "all_silenced" | "alert_open" | "program_missing" | "program_not_in_path" | "program_not_executable" | "webhook_failing" | "execution_waits" | "execution_late" | "admin_missing" | "provider_unreachable" | "provider_unusable" | "api_unreachable" | "api_is_other_program" | "api_other_protocol" | "api_answer" | "api_is_gateway" | "gateway_unknown" | "mirror_token_unusable" | "primary_refused" | "primary_unreachable" | "primary_unusable" | "pools_overlap" | "copy_too_old" | "copy_old" | "night_never" | "night_never_failed" | "night_late" | "night_failed" | "drill_failed" | "night_in_future" | "night_state_lost" | "night_timer_elsewhere" | "night_refused" | "night_unheard" | "drive_shared" | "drive_file_missing" | "drive_file_open" | "drive_file_unusable" | "backup_never" | "backup_late" | "backup_in_future" | "backup_file_lost"; readonly "values": { readonly [name: string]: unknown } } | null })[] }
  Health: { readonly "status": "ok" | "degraded" | "failing"; readonly "version": string; readonly "commit"?: string; readonly "modules": readonly (string)[]; readonly "read_only": boolean; readonly "uptime_seconds": number; readonly "checks": { readonly "store": "ok" | "failing"; readonly "bus": "ok" | "degraded" | "offline"; readonly "mirror"?: "ok" | "degraded" | "expired" }; readonly "mirror"?: { readonly "age_seconds": number | null; readonly "reason": string | null } }
  Live: { readonly "status": "live" }
  Ready: { readonly "status": "ready" | "starting" | "draining" | "failing" }
}

/** The data of each event, by its subject. */
export interface Events {
  "alert.raised": Schemas['Alert']
  "alert.acknowledged": Schemas['Alert']
  "alert.recovered": Schemas['Alert']
  "alert.frozen": Schemas['Alert']
  "alert.unfrozen": Schemas['Alert']
  "silence.created": Schemas['Silence']
  "silence.ended": Schemas['Silence']
  "order.created": Schemas['Order']
  "order.paid": Schemas['Order']
  "order.shipped": Schemas['Order']
  "order.completed": Schemas['Order']
  "order.timeout": Schemas['Order']
  "payment.created": Schemas['Payment']
  "payment.paid": Schemas['Payment']
  "payment.failed": Schemas['Payment']
  "payment.closed": Schemas['Payment']
  "payment.refunded": Schemas['Payment']
  "payment.attention": Schemas['Payment']
  "payment.reconciled": Schemas['Reconciliation']
  "vpn.audit.session_registered": Schemas['VpnAuditEntry']
  "vpn.audit.session_closed": Schemas['VpnAuditEntry']
  "vpn.audit.auth_failed": Schemas['VpnAuditEntry']
  "telemetry.agent.*": { readonly "agent_id": string; readonly "at": string; readonly "data": { readonly [name: string]: unknown } }
  "ticket.created": Schemas['TicketDetails']
  "ticket.updated": Schemas['TicketDetails']
  "heartbeat.created": Schemas['Heartbeat']
  "heartbeat.changed": Schemas['Heartbeat']
  "heartbeat.missed": Schemas['Heartbeat']
  "heartbeat.recovered": Schemas['Heartbeat']
  "heartbeat.deleted": Schemas['Heartbeat']
  "menu.changed": { readonly "revision": number; readonly "created": readonly (string)[]; readonly "updated": readonly (string)[]; readonly "moved": readonly (string)[]; readonly "deleted": readonly (string)[]; readonly "truncated"?: boolean }
  "certificate.registered": { readonly "certificate": Schemas['Certificate']; readonly "actor": string }
  "certificate.revoked": { readonly "certificate": Schemas['Certificate']; readonly "actor": string }
  "certificate.deleted": { readonly "certificate": Schemas['Certificate']; readonly "actor": string }
  "certificate.expiring": { readonly "certificate": Schemas['Certificate']; readonly "step": 60 | 30 | 14 | 7 | 3 | 1 | 0; readonly "expires_first": string }
  "data.backup.started": Schemas['DataBackup']
  "data.backup.completed": Schemas['DataBackup']
  "data.backup.failed": Schemas['DataBackup']
  "data.backup.deleted": Schemas['DataBackup']
  "command.requested": Schemas['Execution']
  "command.decided": Schemas['Execution']
  "command.finished": Schemas['Execution']
  "command.policy_changed": { readonly "revision": number; readonly "at": string; readonly "actor": string; readonly "rules": { readonly [name: string]: { readonly "roles": readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "approvers"?: readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "approval"?: "none" | "two_person" } } }
}

export interface Operations {
  /** List messages, newest first. */
  listMessages: { path: undefined; query: { readonly "status"?: "pending" | "delivered" | "dead"; readonly "subject"?: string; readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Message'])[]; readonly "next_cursor": string | null } }
  /** Read one message. */
  getMessage: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: Schemas['Message'] }
  /** Publish a message on the bus. */
  publishMessage: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "subject": string; readonly "payload": unknown; readonly "headers"?: { readonly [name: string]: string } }; answer: Schemas['Message'] }
  /** Make a dead message pending again. */
  redriveMessage: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: undefined; answer: Schemas['Message'] }
  /** Create an order. */
  createOrder: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "order_id": string; readonly "platform": string; readonly "amount_cents": number; readonly "expires_at"?: string }; answer: Schemas['Order'] | Schemas['CreatedOrder'] }
  /** List orders, newest first. */
  listOrders: { path: undefined; query: { readonly "status"?: "pending" | "paid" | "shipped" | "completed" | "expired" | readonly ("pending" | "paid" | "shipped" | "completed" | "expired")[]; readonly "platform"?: string; readonly "archived"?: boolean; readonly "id_prefix"?: string; readonly "ended_from"?: string; readonly "ended_to"?: string; readonly "updated_from"?: string; readonly "updated_to"?: string; readonly "expires_from"?: string; readonly "expires_to"?: string; readonly "sort"?: "created_at" | "expires_at"; readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Order'])[]; readonly "next_cursor": string | null } }
  /** Read one order. */
  getOrder: { path: { readonly "order_id": string }; query: undefined; headers: { readonly "If-None-Match"?: string }; body: undefined; answer: Schemas['Order'] }
  /** Move an order to another status. */
  moveOrder: { path: { readonly "order_id": string }; query: undefined; headers: { readonly "If-Match"?: string }; body: { readonly "status": "pending" | "paid" | "shipped" | "completed" | "expired" }; answer: Schemas['Order'] }
  /** Every change of one order, oldest first. */
  getOrderHistory: { path: { readonly "order_id": string }; query: undefined; headers: undefined; body: undefined; answer: { readonly "items": readonly ({ readonly "at": string; readonly "from": string | null; readonly "to": "pending" | "paid" | "shipped" | "completed" | "expired"; readonly "actor": string })[] } }
  /** Take a payment for an order. */
  createPayment: { path: { readonly "order_id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "channel": string; readonly "return_url"?: string }; answer: Schemas['NewPayment'] }
  /** List the payments of an order, newest first. */
  listPaymentsOfOrder: { path: { readonly "order_id": string }; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Payment'])[]; readonly "next_cursor": string | null } }
  /** List payments, newest first. */
  listPayments: { path: undefined; query: { readonly "status"?: "creating" | "open" | "paid" | "closed" | "failed" | readonly ("creating" | "open" | "paid" | "closed" | "failed")[]; readonly "channel"?: string; readonly "order_id"?: string; readonly "attention"?: "any" | "late" | "duplicate" | "amount_mismatch" | "unknown_order"; readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Payment'])[]; readonly "next_cursor": string | null } }
  /** Read one payment. */
  getPayment: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: Schemas['Payment'] }
  /** Everything that has happened to one payment, oldest first. */
  getPaymentHistory: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: { readonly "items": readonly ({ readonly "at": string; readonly "change": string; readonly "actor": string; readonly "note": string | null })[] } }
  /** Close an open payment, at the provider too. */
  closePayment: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: undefined; answer: Schemas['Payment'] }
  /** Refund a payment, in part or all that is left. */
  createRefund: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "amount_cents"?: number; readonly "reason": string }; answer: Schemas['Refund'] }
  /** List the refunds of a payment, newest first. */
  listRefunds: { path: { readonly "id": string }; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Refund'])[]; readonly "next_cursor": string | null } }
  /** End what needs a person of a payment. */
  resolvePayment: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "note": string }; answer: Schemas['Payment'] }
  /** The page to which a provider leads a payer back. */
  showPaymentDone: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: string }
  /** Take a callback of a payment provider. */
  receivePaymentCallback: { path: { readonly "channel": string }; query: undefined; headers: undefined; body: undefined; answer: undefined }
  /** Compare the payments of a day with the books of the provider. */
  reconcilePayments: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "channel": string; readonly "date": string }; answer: Schemas['Reconciliation'] }
  /** List reconciliations, newest first. */
  listReconciliations: { path: undefined; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Reconciliation'])[]; readonly "next_cursor": string | null } }
  /** Read one reconciliation. */
  getReconciliation: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: Schemas['Reconciliation'] }
  /** List the differences of a reconciliation, with both sides of each. */
  listPaymentDifferences: { path: { readonly "id": string }; query: { readonly "kind"?: "missing_here" | "missing_there" | "amount_differs" | "status_differs"; readonly "limit"?: number; readonly "cursor"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['PaymentDifference'])[]; readonly "next_cursor": string | null } }
  /** Read who has changed what, newest first. */
  listAudit: { path: undefined; query: { readonly "actor"?: string; readonly "operation"?: string; readonly "target"?: string; readonly "from"?: string; readonly "to"?: string; readonly "limit"?: number; readonly "cursor"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['AuditEntry'])[]; readonly "next_cursor": string | null } }
  /** Read the newest seal of the audit trail. */
  getAuditSeal: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: Schemas['AuditSeal'] }
  /** Read the whole audit trail as JSON lines, oldest first. */
  exportAudit: { path: undefined; query: { readonly "actor"?: string; readonly "operation"?: string; readonly "target"?: string; readonly "from"?: string; readonly "to"?: string }; headers: undefined; body: undefined; answer: string }
  /** Get a token for a name and a password. */
  login: { path: undefined; query: undefined; headers: undefined; body: { readonly "username": string; readonly "password": string }; answer: Schemas['Login'] }
  /** End the token that the request is sent with. */
  logout: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: undefined; answer: undefined }
  /** Read the authenticated caller. */
  getMe: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: Schemas['Me'] }
  /** List users, newest first. */
  listUsers: { path: undefined; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['User'])[]; readonly "next_cursor": string | null } }
  /** Create a user. */
  createUser: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "name": string; readonly "password": string; readonly "roles": readonly ("admin" | "devops" | "service" | "auditor")[] }; answer: Schemas['User'] }
  /** Read the names of users by their ids. */
  listUserNames: { path: undefined; query: { readonly "ids": string }; headers: undefined; body: undefined; answer: Schemas['UserNames'] }
  /** Read one user. */
  getUser: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: Schemas['User'] }
  /** Change the roles of a user, or disable or enable one. */
  updateUser: { path: { readonly "id": string }; query: undefined; headers: undefined; body: { readonly "roles"?: readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "enabled"?: boolean }; answer: Schemas['User'] }
  /** Delete a user. */
  deleteUser: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: undefined }
  /** Set a password. */
  setPassword: { path: { readonly "id": string }; query: undefined; headers: undefined; body: { readonly "password": string; readonly "old_password"?: string }; answer: undefined }
  /** Create an API token for a program. */
  createApiToken: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "name": string; readonly "expires_in"?: number; readonly "roles"?: readonly ("admin" | "devops" | "service" | "auditor")[] }; answer: Schemas['NewApiToken'] }
  /** List the API tokens of a user, newest first. */
  listApiTokens: { path: { readonly "id": string }; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['ApiToken'])[]; readonly "next_cursor": string | null } }
  /** Revoke an API token. */
  revokeApiToken: { path: { readonly "id": string; readonly "token_id": string }; query: undefined; headers: undefined; body: undefined; answer: undefined }
  /** Read the users that have changed, for a standby gateway. */
  mirrorUsers: { path: undefined; query: { readonly "since"?: number; readonly "limit"?: number }; headers: undefined; body: undefined; answer: Schemas['UserChanges'] }
  /** Begin a sign-in with the OpenID provider. */
  beginSignIn: { path: undefined; query: { readonly "return_to"?: string }; headers: undefined; body: undefined; answer: undefined }
  /** Finish a sign-in with the answer of the OpenID provider. */
  finishSignIn: { path: undefined; query: { readonly "code"?: string | readonly (string)[]; readonly "state"?: string | readonly (string)[]; readonly "error"?: string | readonly (string)[]; readonly "error_description"?: string | readonly (string)[]; readonly "iss"?: string | readonly (string)[] }; headers: undefined; body: undefined; answer: undefined }
  /** Get a token for the ticket of a sign-in. */
  redeemTicket: { path: undefined; query: undefined; headers: undefined; body: { readonly "ticket": string }; answer: Schemas['Login'] }
  /** End the session with the OpenID provider. */
  endProviderSession: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: undefined }
  /** How full the address pool is. */
  getVpnPool: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: Schemas['VpnPool'] }
  /** List sessions, newest first. */
  listVpnSessions: { path: undefined; query: { readonly "state"?: "open" | "closed"; readonly "user"?: string; readonly "gateway"?: string; readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['VpnSession'])[]; readonly "next_cursor": string | null } }
  /** Read gateways and live sessions at once. */
  listVpnTunnels: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: { readonly "at": string; readonly "gateways": readonly ({ readonly "name": string; readonly "address": string; readonly "heartbeat_seconds": number; readonly "last_seen_at": string; readonly "alive": boolean })[]; readonly "sessions": readonly (Schemas['VpnSession'])[]; readonly "total": number; readonly "pool"?: unknown } }
  /** Disconnect a session. */
  disconnectVpnSession: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: undefined }
  /** Read the audit trail of the gateways, newest first. */
  listVpnAudit: { path: undefined; query: { readonly "event"?: "session_registered" | "session_closed" | "auth_failed"; readonly "user"?: string; readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['VpnAuditEntry'])[]; readonly "next_cursor": string | null } }
  /** Follow events as they are committed. */
  streamEvents: { path: undefined; query: { readonly "subjects"?: string }; headers: { readonly "Last-Event-ID"?: string }; body: undefined; answer: undefined }
  /** Report an alert. */
  reportAlert: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "source": string; readonly "title": string; readonly "body"?: string; readonly "level"?: string | number; readonly "server_addr"?: string; readonly "runbook_url"?: string; readonly "weight"?: number; readonly "alarm_id"?: string }; answer: Schemas['Alert'] }
  /** List alerts, newest first or by their severity. */
  listAlerts: { path: undefined; query: { readonly "status"?: "firing" | "acknowledged" | "recovered" | "frozen" | readonly ("firing" | "acknowledged" | "recovered" | "frozen")[]; readonly "level"?: string; readonly "source"?: string; readonly "text"?: string; readonly "sort"?: "created_at" | "severity"; readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Alert'])[]; readonly "next_cursor": string | null } }
  /** Read one alert. */
  getAlert: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: Schemas['Alert'] }
  /** The changes of one alert, oldest first. */
  getAlertHistory: { path: { readonly "id": string }; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly ({ readonly "at": string; readonly "from": string | null; readonly "to": "firing" | "acknowledged" | "recovered" | "frozen"; readonly "weight": number; readonly "actor": string; readonly "note": string | null; readonly "cause": { readonly "code": "swings" | "acknowledgement_lapsed"; readonly "values": { readonly [name: string]: unknown } } | null })[]; readonly "next_cursor": string | null } }
  /** Declare an alert recovered. */
  recoverAlert: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: undefined; answer: Schemas['Alert'] }
  /** Acknowledge a firing alert. */
  acknowledgeAlert: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "comment"?: string } | undefined; answer: Schemas['Alert'] }
  /** End the freeze of an alert. */
  unfreezeAlert: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: undefined; answer: Schemas['Alert'] }
  /** Silence alerts for some time. */
  createSilence: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "matchers": { readonly "source"?: string; readonly "alarm_id"?: string; readonly "server_addr"?: string; readonly "title"?: string }; readonly "reason": string; readonly "starts_at"?: string; readonly "ends_at"?: string; readonly "repeat"?: { readonly "days": readonly ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[]; readonly "from": string; readonly "to": string; readonly "time_zone": string } }; answer: Schemas['Silence'] }
  /** List silences, newest first. */
  listSilences: { path: undefined; query: { readonly "state"?: "active" | "pending" | "ended"; readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Silence'])[]; readonly "next_cursor": string | null } }
  /** List the windows of silences in one week, the earliest first. */
  getSilenceCalendar: { path: undefined; query: { readonly "from": string }; headers: undefined; body: undefined; answer: { readonly "windows": readonly ({ readonly "silence_id": string; readonly "reason": string; readonly "starts_at": string; readonly "ends_at": string })[] } }
  /** Read one silence. */
  getSilence: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: Schemas['SilenceWithWindows'] }
  /** End a silence now. */
  endSilence: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: undefined }
  /** List the configured receivers of notifications, and whether they work, by name. */
  listReceivers: { path: undefined; query: { readonly "limit"?: number; readonly "cursor"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Receiver'])[]; readonly "next_cursor": string | null } }
  /** Send a test message to a receiver. */
  testReceiver: { path: { readonly "name": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: undefined; answer: { readonly "delivered": boolean; readonly "answer": string } }
  /** The configured routes of alerts, in the order in which they are tried; the default is the last one. */
  getAlertRoutes: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: { readonly "routes": readonly (Schemas['AlertRoute'])[] } }
  /** Where an alert would go now if it were new: its routes, whom they notify, and when. */
  explainAlertRoute: { path: undefined; query: { readonly "source": string; readonly "severity": "CRITICAL" | "HIGH" | "ERROR" | "WARNING" | "INFO" | "CLOSE"; readonly "title"?: string; readonly "alarm_id"?: string; readonly "server_addr"?: string }; headers: undefined; body: undefined; answer: { readonly "matched": readonly (string | number)[]; readonly "receivers": readonly ({ readonly "name": string; readonly "at": string | null; readonly "because": "told" | "route" | "waiting" | "outside_hours" | "escalation" | "repetition" | "disabled" | "below_level" | "inhibited" | "silenced" | "acknowledged" | "frozen" | "damped" | "superseded" | "sent" | "bundled" | "failed" })[] } }
  /** The routes of an alert, and whom they notify when. */
  getAlertRoute: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: { readonly "matched": readonly (string | number)[]; readonly "receivers": readonly ({ readonly "name": string; readonly "at": string | null; readonly "because": "told" | "route" | "waiting" | "outside_hours" | "escalation" | "repetition" | "disabled" | "below_level" | "inhibited" | "silenced" | "acknowledged" | "frozen" | "damped" | "superseded" | "sent" | "bundled" | "failed" })[] } }
  /** List the decisions on the notifications of an alert, newest first. */
  listAlertDecisions: { path: { readonly "id": string }; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['AlertDecision'])[]; readonly "next_cursor": string | null } }
  /** Take alerts as an Alertmanager does. */
  postPrometheusAlerts: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: readonly (unknown)[]; answer: undefined }
  /** The alerts that have not recovered, as an Alertmanager shows them. */
  listAlertmanagerAlerts: { path: undefined; query: { readonly "active"?: boolean; readonly "silenced"?: boolean; readonly "inhibited"?: boolean; readonly "unprocessed"?: boolean; readonly "muted"?: boolean; readonly "filter"?: readonly (string)[]; readonly "receiver"?: string }; headers: undefined; body: undefined; answer: readonly ({ readonly "fingerprint": string; readonly "labels": { readonly [name: string]: string }; readonly "annotations": { readonly [name: string]: string }; readonly "receivers": readonly ({ readonly "name": string })[]; readonly "startsAt": string; readonly "updatedAt": string; readonly "endsAt": string; readonly "generatorURL"?: string; readonly "status": { readonly "state": "active" | "suppressed"; readonly "silencedBy": readonly (string)[]; readonly "inhibitedBy": readonly (string)[]; readonly "mutedBy": readonly (string)[] } })[] }
  /** Take a notification of an Alertmanager. */
  postAlertmanagerNotification: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "version"?: "4"; readonly "receiver"?: string; readonly "groupKey"?: string; readonly "truncatedAlerts"?: number; readonly "externalURL"?: string; readonly "alerts": readonly (unknown)[] }; answer: undefined }
  /** The status, as that of an Alertmanager. */
  getAlertmanagerStatus: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: { readonly "cluster": { readonly "status": string; readonly "peers": readonly (unknown)[] }; readonly "versionInfo": { readonly [name: string]: string }; readonly "config": { readonly "original": string }; readonly "uptime": string } }
  /** The names of the receivers, as those of an Alertmanager. */
  listAlertmanagerReceivers: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: readonly ({ readonly "name": string })[] }
  /** The same alerts, grouped by their sources. */
  listAlertmanagerGroups: { path: undefined; query: { readonly "active"?: boolean; readonly "silenced"?: boolean; readonly "inhibited"?: boolean; readonly "unprocessed"?: boolean; readonly "muted"?: boolean; readonly "filter"?: readonly (string)[]; readonly "receiver"?: string }; headers: undefined; body: undefined; answer: readonly ({ readonly "labels": { readonly [name: string]: string }; readonly "receiver": { readonly "name": string }; readonly "alerts": readonly ({ readonly "fingerprint": string; readonly "labels": { readonly [name: string]: string }; readonly "annotations": { readonly [name: string]: string }; readonly "receivers": readonly ({ readonly "name": string })[]; readonly "startsAt": string; readonly "updatedAt": string; readonly "endsAt": string; readonly "generatorURL"?: string; readonly "status": { readonly "state": "active" | "suppressed"; readonly "silencedBy": readonly (string)[]; readonly "inhibitedBy": readonly (string)[]; readonly "mutedBy": readonly (string)[] } })[] })[] }
  /** The silences, as an Alertmanager shows them. */
  listAlertmanagerSilences: { path: undefined; query: { readonly "filter"?: readonly (string)[] }; headers: undefined; body: undefined; answer: readonly ({ readonly "id": string; readonly "matchers": readonly ({ readonly "name": string; readonly "value": string; readonly "isRegex": boolean; readonly "isEqual"?: boolean })[]; readonly "startsAt": string; readonly "endsAt": string; readonly "createdBy": string; readonly "comment": string; readonly "updatedAt": string; readonly "status": { readonly "state": "active" | "pending" | "expired" } })[] }
  /** Silence alerts by their labels, as a client of an Alertmanager does. */
  postAlertmanagerSilence: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "id"?: string; readonly "matchers": readonly ({ readonly "name": string; readonly "value": string; readonly "isRegex": boolean; readonly "isEqual"?: boolean })[]; readonly "startsAt": string; readonly "endsAt": string; readonly "createdBy": string; readonly "comment": string }; answer: { readonly "silenceID": string } }
  /** Read one silence, as an Alertmanager shows it. */
  getAlertmanagerSilence: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: { readonly "id": string; readonly "matchers": readonly ({ readonly "name": string; readonly "value": string; readonly "isRegex": boolean; readonly "isEqual"?: boolean })[]; readonly "startsAt": string; readonly "endsAt": string; readonly "createdBy": string; readonly "comment": string; readonly "updatedAt": string; readonly "status": { readonly "state": "active" | "pending" | "expired" } } }
  /** End a silence now, as a client of an Alertmanager does. */
  deleteAlertmanagerSilence: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: undefined }
  /** Create a heartbeat, or change its settings. */
  putHeartbeat: { path: { readonly "name": string }; query: undefined; headers: undefined; body: { readonly "every_seconds"?: number; readonly "schedule"?: string; readonly "time_zone"?: string; readonly "grace_seconds"?: number; readonly "max_run_seconds"?: number; readonly "severity"?: string; readonly "source"?: string }; answer: Schemas['Heartbeat'] | Schemas['HeartbeatWithUrl'] }
  /** Read a heartbeat. */
  getHeartbeat: { path: { readonly "name": string }; query: undefined; headers: undefined; body: undefined; answer: Schemas['Heartbeat'] }
  /** Delete a heartbeat; its alert recovers. */
  deleteHeartbeat: { path: { readonly "name": string }; query: undefined; headers: undefined; body: undefined; answer: undefined }
  /** List heartbeats, newest first. */
  listHeartbeats: { path: undefined; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Heartbeat'])[]; readonly "next_cursor": string | null } }
  /** List the last 100 pings of a heartbeat, newest first. */
  listHeartbeatPings: { path: { readonly "name": string }; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['HeartbeatPing'])[]; readonly "next_cursor": string | null } }
  /** Give a heartbeat another address for its pings. */
  rotateHeartbeat: { path: { readonly "name": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: undefined; answer: Schemas['HeartbeatWithUrl'] }
  /** Send a beat. */
  beatHeartbeat: { path: { readonly "name": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: undefined; answer: undefined }
  /** Say that a run is done: a beat. */
  ping: { path: { readonly "token": string }; query: undefined; headers: undefined; body: undefined; answer: string }
  /** Say that a run is done: a beat. */
  pingWithBody: { path: { readonly "token": string }; query: undefined; headers: undefined; body: undefined; answer: string }
  /** Say that a run has started, failed, or ended with an exit code; or keep a text. */
  pingSignal: { path: { readonly "token": string; readonly "signal": string }; query: undefined; headers: undefined; body: undefined; answer: string }
  /** Say that a run has started, failed, or ended with an exit code; or keep a text. */
  pingSignalWithBody: { path: { readonly "token": string; readonly "signal": string }; query: undefined; headers: undefined; body: undefined; answer: string }
  /** Create a ticket. */
  createTicket: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "title": string; readonly "level": "critical" | "high" | "medium" | "low" | "info"; readonly "description"?: string; readonly "source"?: string; readonly "assignee"?: string | null; readonly "dedup_key"?: string }; answer: Schemas['TicketDetails'] }
  /** List tickets, newest first. */
  listTickets: { path: undefined; query: { readonly "status"?: "open" | "in_progress" | "resolved" | "closed" | "unclosed" | readonly ("open" | "in_progress" | "resolved" | "closed" | "unclosed")[]; readonly "level"?: "critical" | "high" | "medium" | "low" | "info"; readonly "source"?: string; readonly "assignee"?: string; readonly "mentioned"?: string; readonly "text"?: string; readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Ticket'])[]; readonly "next_cursor": string | null } }
  /** Read one ticket with its description and its newest comments. */
  getTicket: { path: { readonly "id": string }; query: undefined; headers: { readonly "If-None-Match"?: string }; body: undefined; answer: Schemas['TicketDetails'] }
  /** Change a ticket, or comment on it. */
  editTicket: { path: { readonly "id": string }; query: undefined; headers: { readonly "If-Match"?: string }; body: { readonly "status"?: "open" | "in_progress" | "resolved" | "closed"; readonly "level"?: "critical" | "high" | "medium" | "low" | "info"; readonly "title"?: string; readonly "comment"?: string; readonly "assignee"?: string | null }; answer: Schemas['TicketDetails'] }
  /** Every comment of one ticket, newest first. */
  listTicketComments: { path: { readonly "id": string }; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly ({ readonly "id": string; readonly "at": string; readonly "author": string; readonly "text": string })[]; readonly "next_cursor": string | null } }
  /** Every change of one ticket, oldest first. */
  getTicketHistory: { path: { readonly "id": string }; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly ({ readonly "at": string; readonly "actor": string; readonly "changes": { readonly [name: string]: readonly (string | null)[] } })[]; readonly "next_cursor": string | null } }
  /** Read the tree of menus. */
  getMenus: { path: undefined; query: { readonly "all"?: boolean; readonly "flat"?: boolean }; headers: undefined; body: undefined; answer: Schemas['MenuTree'] }
  /** Create, change, move and delete menus. */
  editMenus: { path: undefined; query: undefined; headers: { readonly "If-Match"?: string }; body: { readonly "items": readonly ({ readonly "id": string; readonly "title"?: string; readonly "parent_id"?: string | null; readonly "path"?: string | null; readonly "icon"?: string | null; readonly "position"?: number; readonly "enabled"?: boolean; readonly "children"?: readonly ({ readonly "id": string; readonly "title"?: string; readonly "parent_id"?: string | null; readonly "path"?: string | null; readonly "icon"?: string | null; readonly "position"?: number; readonly "enabled"?: boolean; readonly "children"?: readonly ({ readonly "id": string; readonly "title"?: string; readonly "parent_id"?: string | null; readonly "path"?: string | null; readonly "icon"?: string | null; readonly "position"?: number; readonly "enabled"?: boolean; readonly "children"?: readonly ({ readonly "id": string; readonly "title"?: string; readonly "parent_id"?: string | null; readonly "path"?: string | null; readonly "icon"?: string | null; readonly "position"?: number; readonly "enabled"?: boolean; readonly "children"?: readonly ({ readonly "id": string; readonly "title"?: string; readonly "parent_id"?: string | null; readonly "path"?: string | null; readonly "icon"?: string | null; readonly "position"?: number; readonly "enabled"?: boolean; readonly "children"?: readonly ({ readonly "id": string; readonly "title"?: string; readonly "parent_id"?: string | null; readonly "path"?: string | null; readonly "icon"?: string | null; readonly "position"?: number; readonly "enabled"?: boolean; readonly "children"?: readonly ({ readonly "id": string; readonly "title"?: string; readonly "parent_id"?: string | null; readonly "path"?: string | null; readonly "icon"?: string | null; readonly "position"?: number; readonly "enabled"?: boolean; readonly "children"?: readonly ({ readonly "id": string; readonly "title"?: string; readonly "parent_id"?: string | null; readonly "path"?: string | null; readonly "icon"?: string | null; readonly "position"?: number; readonly "enabled"?: boolean; readonly "children"?: readonly ({ readonly "id": string; readonly "title"?: string; readonly "parent_id"?: string | null; readonly "path"?: string | null; readonly "icon"?: string | null; readonly "position"?: number; readonly "enabled"?: boolean; readonly "children"?: readonly (unknown)[] })[] })[] })[] })[] })[] })[] })[] })[] })[]; readonly "replace"?: boolean; readonly "dry_run"?: boolean }; answer: Schemas['MenuChange'] }
  /** Delete one node of the menus, which has no children. */
  deleteMenu: { path: { readonly "id": string }; query: undefined; headers: { readonly "If-Match"?: string }; body: undefined; answer: undefined }
  /** Register a certificate with its chain. */
  registerCertificate: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "name": string; readonly "pem": string }; answer: Schemas['Certificate'] }
  /** List certificates, newest first or by their end. */
  listCertificates: { path: undefined; query: { readonly "status"?: "valid" | "not_yet_valid" | "expiring" | "expired" | "revoked" | "replaced"; readonly "expires_before"?: string; readonly "sort"?: "created_at" | "not_after"; readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Certificate'])[]; readonly "next_cursor": string | null } }
  /** Read one certificate. */
  getCertificate: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: Schemas['Certificate'] }
  /** Delete a certificate and its file; its alerts recover. */
  deleteCertificate: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: undefined }
  /** Read one certificate with its chain, in PEM. */
  getCertificatePem: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: string }
  /** Revoke a certificate; its alert recovers. */
  revokeCertificate: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "reason"?: string } | undefined; answer: Schemas['Certificate'] }
  /** Request a backup of the database. */
  createDataBackup: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "note"?: string } | undefined; answer: Schemas['DataBackup'] }
  /** List backups, newest first. */
  listDataBackups: { path: undefined; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['DataBackup'])[]; readonly "next_cursor": string | null } }
  /** Read one backup. */
  getDataBackup: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: Schemas['DataBackup'] }
  /** Delete a backup and its file. */
  deleteDataBackup: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: undefined }
  /** Download the file of a completed backup. */
  getDataBackupFile: { path: { readonly "id": string }; query: undefined; headers: { readonly "Range"?: string; readonly "If-Range"?: string; readonly "If-Match"?: string; readonly "If-None-Match"?: string }; body: undefined; answer: ReadableStream<Uint8Array> }
  /** Delete all but the newest completed backups. */
  pruneDataBackups: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "keep": number }; answer: { readonly "removed": readonly (string)[]; readonly "kept": readonly (string)[] } }
  /** Send one item of an agent, or a batch. */
  sendTelemetry: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "agent_id": string; readonly "at"?: string; readonly "data"?: { readonly [name: string]: unknown }; readonly "items"?: readonly ({ readonly "at"?: string; readonly "data": { readonly [name: string]: unknown } })[] }; answer: { readonly "accepted": number } }
  /** List agents, newest first by their first item. */
  listTelemetryAgents: { path: undefined; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['TelemetryAgent'])[]; readonly "next_cursor": string | null } }
  /** Read one agent, with its last item. */
  getTelemetryAgent: { path: { readonly "agent_id": string }; query: undefined; headers: undefined; body: undefined; answer: { readonly "agent_id": string; readonly "first_at": string; readonly "last_at": string; readonly "items": number; readonly "last_item": { readonly "at": string; readonly "data": { readonly [name: string]: unknown } } } }
  /** List the commands that the caller may run, or all of them, by id. */
  listCommands: { path: undefined; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "all"?: boolean }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Command'])[]; readonly "next_cursor": string | null } }
  /** Why a user may, or may not, run a command. */
  explainCommandAccess: { path: { readonly "id": string }; query: { readonly "user_id": string }; headers: undefined; body: undefined; answer: { readonly "allowed": boolean; readonly "because": string; readonly "rule": { readonly "revision": number; readonly "roles": readonly ("admin" | "devops" | "service" | "auditor")[] } | null; readonly "user": { readonly "roles": readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "enabled": boolean } } }
  /** Request an execution of a command. */
  executeCommand: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "params"?: { readonly [name: string]: unknown }; readonly "reason"?: string; readonly "dry_run"?: boolean } | undefined; answer: Schemas['CommandDryRun'] | Schemas['Execution'] }
  /** List executions, newest first. */
  listExecutions: { path: undefined; query: { readonly "status"?: "awaiting_approval" | "queued" | "running" | "succeeded" | "failed" | "timed_out" | "cancelled" | "incomplete" | "rejected" | "expired" | "interrupted"; readonly "command_id"?: string; readonly "requested_by"?: string; readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Execution'])[]; readonly "next_cursor": string | null } }
  /** Read one execution with its output. */
  getExecution: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: Schemas['Execution'] }
  /** Follow the output of an execution. */
  followExecutionOutput: { path: { readonly "id": string }; query: undefined; headers: { readonly "Last-Event-ID"?: string }; body: undefined; answer: undefined }
  /** Cancel an execution that is queued or running. */
  cancelExecution: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: undefined; answer: Schemas['Execution'] }
  /** Approve the request of another person. */
  approveExecution: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "comment"?: string } | undefined; answer: Schemas['Execution'] }
  /** Reject the request of another person. */
  rejectExecution: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "comment"?: string } | undefined; answer: Schemas['Execution'] }
  /** Read who may run which command. */
  getCommandPolicy: { path: undefined; query: undefined; headers: { readonly "If-None-Match"?: string }; body: undefined; answer: Schemas['CommandPolicy'] }
  /** Replace the whole policy. */
  setCommandPolicy: { path: undefined; query: undefined; headers: { readonly "If-Match"?: string }; body: { readonly "rules": { readonly [name: string]: { readonly "roles": readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "approvers"?: readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "approval"?: "none" | "two_person" } } }; answer: Schemas['CommandPolicy'] }
  /** Every change of the policy, newest first. */
  getCommandPolicyHistory: { path: undefined; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly ({ readonly "revision": number; readonly "at": string; readonly "actor": string; readonly "rules": { readonly [name: string]: { readonly "roles": readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "approvers"?: readonly ("admin" | "devops" | "service" | "auditor")[]; readonly "approval"?: "none" | "two_person" } } })[]; readonly "next_cursor": string | null } }
  /** Send events to an endpoint. */
  createWebhook: { path: undefined; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "url": string; readonly "subjects": readonly (string)[]; readonly "description"?: string; readonly "ordered"?: boolean; readonly "enabled"?: boolean }; answer: Schemas['WebhookWithSecret'] }
  /** List webhooks, newest first. */
  listWebhooks: { path: undefined; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['Webhook'])[]; readonly "next_cursor": string | null } }
  /** Read a webhook. */
  getWebhook: { path: { readonly "id": string }; query: undefined; headers: undefined; body: undefined; answer: Schemas['Webhook'] }
  /** Change, enable or disable a webhook. */
  editWebhook: { path: { readonly "id": string }; query: undefined; headers: { readonly "If-Match"?: string }; body: { readonly "url"?: string; readonly "subjects"?: readonly (string)[]; readonly "description"?: string; readonly "ordered"?: boolean; readonly "enabled"?: boolean }; answer: Schemas['Webhook'] }
  /** Delete a webhook with its deliveries. */
  deleteWebhook: { path: { readonly "id": string }; query: undefined; headers: { readonly "If-Match"?: string }; body: undefined; answer: undefined }
  /** Give a webhook another secret. */
  rotateWebhook: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string; readonly "If-Match"?: string }; body: undefined; answer: Schemas['WebhookWithSecret'] }
  /** Send an event that is only a test. */
  testWebhook: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: undefined; answer: Schemas['WebhookDelivery'] }
  /** List what was sent to an endpoint, newest first. */
  listWebhookDeliveries: { path: { readonly "id": string }; query: { readonly "limit"?: number; readonly "cursor"?: string; readonly "created_from"?: string; readonly "created_to"?: string; readonly "status"?: "pending" | "delivered" | "failed" }; headers: undefined; body: undefined; answer: { readonly "items": readonly (Schemas['WebhookDelivery'])[]; readonly "next_cursor": string | null } }
  /** Send an event again. */
  redeliverWebhook: { path: { readonly "id": string; readonly "delivery_id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: undefined; answer: Schemas['WebhookDelivery'] }
  /** Send what an endpoint has missed. */
  recoverWebhook: { path: { readonly "id": string }; query: undefined; headers: { readonly "Idempotency-Key"?: string }; body: { readonly "since": string }; answer: Schemas['Webhook'] }
  /** The state of the whole platform. */
  getOverview: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: Schemas['Overview'] }
  /** Orders, alerts and sessions of the last hours, in steps of five minutes. */
  getOverviewSeries: { path: undefined; query: { readonly "hours"?: number }; headers: undefined; body: undefined; answer: Schemas['OverviewSeries'] }
  /** The settings in effect. */
  getConfig: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: Schemas['Config'] }
  /** What is wrong with this server and the platform on it. */
  getDoctorReport: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: Schemas['DoctorReport'] }
  /** Health of the process. */
  getHealth: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: Schemas['Health'] }
  /** Metrics in the Prometheus text format. */
  getMetrics: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: string }
  /** Whether the process answers. */
  getLive: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: Schemas['Live'] }
  /** Whether the process takes requests. */
  getReady: { path: undefined; query: undefined; headers: undefined; body: undefined; answer: Schemas['Ready'] }
}

export const OPERATIONS = {
  listMessages: {"method":"GET","path":"/messages","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getMessage: {"method":"GET","path":"/messages/{id}","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  publishMessage: {"method":"POST","path":"/messages/publish","access":["admin","service"],"answer":"json","isKeyed":true,"isRepeatable":true},
  redriveMessage: {"method":"POST","path":"/messages/{id}/redrive","access":["admin","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  createOrder: {"method":"POST","path":"/orders","access":["admin","service"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listOrders: {"method":"GET","path":"/orders","access":["admin","service","devops"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getOrder: {"method":"GET","path":"/orders/{order_id}","access":["admin","service","devops"],"answer":"json","isKeyed":false,"isRepeatable":true},
  moveOrder: {"method":"PUT","path":"/orders/{order_id}","access":["admin","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getOrderHistory: {"method":"GET","path":"/orders/{order_id}/history","access":["admin","service","devops"],"answer":"json","isKeyed":false,"isRepeatable":true},
  createPayment: {"method":"POST","path":"/orders/{order_id}/payments","access":["admin","service"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listPaymentsOfOrder: {"method":"GET","path":"/orders/{order_id}/payments","access":["admin","service","devops"],"answer":"json","isKeyed":false,"isRepeatable":true},
  listPayments: {"method":"GET","path":"/payments","access":["admin","service","devops"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getPayment: {"method":"GET","path":"/payments/{id}","access":["admin","service","devops"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getPaymentHistory: {"method":"GET","path":"/payments/{id}/history","access":["admin","service","devops"],"answer":"json","isKeyed":false,"isRepeatable":true},
  closePayment: {"method":"POST","path":"/payments/{id}/close","access":["admin","service"],"answer":"json","isKeyed":true,"isRepeatable":true},
  createRefund: {"method":"POST","path":"/payments/{id}/refunds","access":["admin"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listRefunds: {"method":"GET","path":"/payments/{id}/refunds","access":["admin","service","devops"],"answer":"json","isKeyed":false,"isRepeatable":true},
  resolvePayment: {"method":"POST","path":"/payments/{id}/resolve","access":["admin"],"answer":"json","isKeyed":true,"isRepeatable":true},
  showPaymentDone: {"method":"GET","path":"/payments/done","access":"public","answer":"text","isKeyed":false,"isRepeatable":true},
  receivePaymentCallback: {"method":"POST","path":"/payments/callbacks/{channel}","access":"public","answer":"none","isKeyed":false,"isRepeatable":false},
  reconcilePayments: {"method":"POST","path":"/payments/reconciliations","access":["admin"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listReconciliations: {"method":"GET","path":"/payments/reconciliations","access":["admin","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getReconciliation: {"method":"GET","path":"/payments/reconciliations/{id}","access":["admin","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  listPaymentDifferences: {"method":"GET","path":"/payments/reconciliations/{id}/differences","access":["admin","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  listAudit: {"method":"GET","path":"/audit","access":["admin","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getAuditSeal: {"method":"GET","path":"/audit/seal","access":["admin","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  exportAudit: {"method":"GET","path":"/audit/export","access":["admin","auditor"],"answer":"text","isKeyed":false,"isRepeatable":true},
  login: {"method":"POST","path":"/auth/login","access":"public","answer":"json","isKeyed":false,"isRepeatable":false},
  logout: {"method":"POST","path":"/auth/logout","access":"authenticated","answer":"none","isKeyed":true,"isRepeatable":true},
  getMe: {"method":"GET","path":"/auth/me","access":"authenticated","answer":"json","isKeyed":false,"isRepeatable":true},
  listUsers: {"method":"GET","path":"/users","access":["admin"],"answer":"json","isKeyed":false,"isRepeatable":true},
  createUser: {"method":"POST","path":"/users","access":["admin"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listUserNames: {"method":"GET","path":"/users/names","access":"authenticated","answer":"json","isKeyed":false,"isRepeatable":true},
  getUser: {"method":"GET","path":"/users/{id}","access":["admin"],"answer":"json","isKeyed":false,"isRepeatable":true},
  updateUser: {"method":"PATCH","path":"/users/{id}","access":["admin"],"answer":"json","isKeyed":false,"isRepeatable":false},
  deleteUser: {"method":"DELETE","path":"/users/{id}","access":["admin"],"answer":"none","isKeyed":false,"isRepeatable":true},
  setPassword: {"method":"PUT","path":"/users/{id}/password","access":"authenticated","answer":"none","isKeyed":false,"isRepeatable":true},
  createApiToken: {"method":"POST","path":"/users/{id}/tokens","access":"authenticated","answer":"json","isKeyed":true,"isRepeatable":true},
  listApiTokens: {"method":"GET","path":"/users/{id}/tokens","access":"authenticated","answer":"json","isKeyed":false,"isRepeatable":true},
  revokeApiToken: {"method":"DELETE","path":"/users/{id}/tokens/{token_id}","access":"authenticated","answer":"none","isKeyed":false,"isRepeatable":true},
  mirrorUsers: {"method":"GET","path":"/users/mirror","access":"policy","answer":"json","isKeyed":false,"isRepeatable":true},
  beginSignIn: {"method":"GET","path":"/auth/oauth/login","access":"public","answer":"none","isKeyed":false,"isRepeatable":true},
  finishSignIn: {"method":"GET","path":"/auth/oauth/callback","access":"public","answer":"none","isKeyed":false,"isRepeatable":true},
  redeemTicket: {"method":"POST","path":"/auth/oauth/redeem","access":"public","answer":"json","isKeyed":false,"isRepeatable":false},
  endProviderSession: {"method":"GET","path":"/auth/oauth/logout","access":"public","answer":"none","isKeyed":false,"isRepeatable":true},
  getVpnPool: {"method":"GET","path":"/vpn/pool","access":["admin","devops","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  listVpnSessions: {"method":"GET","path":"/vpn/sessions","access":["admin","devops","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  listVpnTunnels: {"method":"GET","path":"/vpn/tunnels","access":["admin","devops","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  disconnectVpnSession: {"method":"DELETE","path":"/vpn/sessions/{id}","access":["admin","devops"],"answer":"none","isKeyed":false,"isRepeatable":true},
  listVpnAudit: {"method":"GET","path":"/vpn/audit","access":["admin","devops","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  streamEvents: {"method":"GET","path":"/events","access":["admin","devops","auditor","service"],"answer":"events","isKeyed":false,"isRepeatable":true},
  reportAlert: {"method":"POST","path":"/alerts/report","access":["admin","service","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listAlerts: {"method":"GET","path":"/alerts","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getAlert: {"method":"GET","path":"/alerts/{id}","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getAlertHistory: {"method":"GET","path":"/alerts/{id}/history","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  recoverAlert: {"method":"POST","path":"/alerts/{id}/recover","access":["admin","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  acknowledgeAlert: {"method":"POST","path":"/alerts/{id}/acknowledge","access":["admin","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  unfreezeAlert: {"method":"POST","path":"/alerts/{id}/unfreeze","access":["admin","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  createSilence: {"method":"POST","path":"/alerts/silences","access":["admin","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listSilences: {"method":"GET","path":"/alerts/silences","access":["admin","devops","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getSilenceCalendar: {"method":"GET","path":"/alerts/calendar","access":["admin","devops","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getSilence: {"method":"GET","path":"/alerts/silences/{id}","access":["admin","devops","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  endSilence: {"method":"DELETE","path":"/alerts/silences/{id}","access":["admin","devops"],"answer":"none","isKeyed":false,"isRepeatable":true},
  listReceivers: {"method":"GET","path":"/alerts/receivers","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  testReceiver: {"method":"POST","path":"/alerts/receivers/{name}/test","access":["admin","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  getAlertRoutes: {"method":"GET","path":"/alerts/routes","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  explainAlertRoute: {"method":"GET","path":"/alerts/route","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getAlertRoute: {"method":"GET","path":"/alerts/{id}/route","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  listAlertDecisions: {"method":"GET","path":"/alerts/{id}/decisions","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  postPrometheusAlerts: {"method":"POST","path":"/api/v2/alerts","access":["admin","service","devops"],"answer":"none","isKeyed":true,"isRepeatable":true},
  listAlertmanagerAlerts: {"method":"GET","path":"/api/v2/alerts","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  postAlertmanagerNotification: {"method":"POST","path":"/alerts/alertmanager","access":["admin","service","devops"],"answer":"none","isKeyed":true,"isRepeatable":true},
  getAlertmanagerStatus: {"method":"GET","path":"/api/v2/status","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  listAlertmanagerReceivers: {"method":"GET","path":"/api/v2/receivers","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  listAlertmanagerGroups: {"method":"GET","path":"/api/v2/alerts/groups","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  listAlertmanagerSilences: {"method":"GET","path":"/api/v2/silences","access":["admin","devops","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  postAlertmanagerSilence: {"method":"POST","path":"/api/v2/silences","access":["admin","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  getAlertmanagerSilence: {"method":"GET","path":"/api/v2/silence/{id}","access":["admin","devops","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  deleteAlertmanagerSilence: {"method":"DELETE","path":"/api/v2/silence/{id}","access":["admin","devops"],"answer":"none","isKeyed":false,"isRepeatable":true},
  putHeartbeat: {"method":"PUT","path":"/alerts/heartbeats/{name}","access":["admin","devops"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getHeartbeat: {"method":"GET","path":"/alerts/heartbeats/{name}","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  deleteHeartbeat: {"method":"DELETE","path":"/alerts/heartbeats/{name}","access":["admin","devops"],"answer":"none","isKeyed":false,"isRepeatable":true},
  listHeartbeats: {"method":"GET","path":"/alerts/heartbeats","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  listHeartbeatPings: {"method":"GET","path":"/alerts/heartbeats/{name}/pings","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  rotateHeartbeat: {"method":"POST","path":"/alerts/heartbeats/{name}/rotate","access":["admin","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  beatHeartbeat: {"method":"POST","path":"/alerts/heartbeats/{name}/beat","access":["admin","service","devops"],"answer":"none","isKeyed":true,"isRepeatable":true},
  ping: {"method":"GET","path":"/ping/{token}","access":"public","answer":"text","isKeyed":false,"isRepeatable":false},
  pingWithBody: {"method":"POST","path":"/ping/{token}","access":"public","answer":"text","isKeyed":false,"isRepeatable":false},
  pingSignal: {"method":"GET","path":"/ping/{token}/{signal}","access":"public","answer":"text","isKeyed":false,"isRepeatable":false},
  pingSignalWithBody: {"method":"POST","path":"/ping/{token}/{signal}","access":"public","answer":"text","isKeyed":false,"isRepeatable":false},
  createTicket: {"method":"POST","path":"/tickets","access":["admin","service","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listTickets: {"method":"GET","path":"/tickets","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getTicket: {"method":"GET","path":"/tickets/{id}","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  editTicket: {"method":"PUT","path":"/tickets/{id}","access":["admin","service","devops"],"answer":"json","isKeyed":false,"isRepeatable":false},
  listTicketComments: {"method":"GET","path":"/tickets/{id}/comments","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getTicketHistory: {"method":"GET","path":"/tickets/{id}/history","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getMenus: {"method":"GET","path":"/menus","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  editMenus: {"method":"PUT","path":"/menus","access":["admin"],"answer":"json","isKeyed":false,"isRepeatable":true},
  deleteMenu: {"method":"DELETE","path":"/menus/{id}","access":["admin"],"answer":"none","isKeyed":false,"isRepeatable":true},
  registerCertificate: {"method":"POST","path":"/certificates","access":["admin","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listCertificates: {"method":"GET","path":"/certificates","access":["admin","devops","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getCertificate: {"method":"GET","path":"/certificates/{id}","access":["admin","devops","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  deleteCertificate: {"method":"DELETE","path":"/certificates/{id}","access":["admin"],"answer":"none","isKeyed":false,"isRepeatable":true},
  getCertificatePem: {"method":"GET","path":"/certificates/{id}/pem","access":["admin","devops","auditor"],"answer":"text","isKeyed":false,"isRepeatable":true},
  revokeCertificate: {"method":"POST","path":"/certificates/{id}/revoke","access":["admin","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  createDataBackup: {"method":"POST","path":"/data/backups","access":["admin","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listDataBackups: {"method":"GET","path":"/data/backups","access":["admin","devops"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getDataBackup: {"method":"GET","path":"/data/backups/{id}","access":["admin","devops"],"answer":"json","isKeyed":false,"isRepeatable":true},
  deleteDataBackup: {"method":"DELETE","path":"/data/backups/{id}","access":["admin"],"answer":"none","isKeyed":false,"isRepeatable":true},
  getDataBackupFile: {"method":"GET","path":"/data/backups/{id}/file","access":["admin"],"answer":"bytes","isKeyed":false,"isRepeatable":true},
  pruneDataBackups: {"method":"POST","path":"/data/backups/prune","access":["admin","devops"],"answer":"json","isKeyed":true,"isRepeatable":true},
  sendTelemetry: {"method":"POST","path":"/api/v1/telemetry","access":["service","admin"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listTelemetryAgents: {"method":"GET","path":"/api/v1/telemetry/agents","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getTelemetryAgent: {"method":"GET","path":"/api/v1/telemetry/agents/{agent_id}","access":["admin","devops","auditor","service"],"answer":"json","isKeyed":false,"isRepeatable":true},
  listCommands: {"method":"GET","path":"/commands","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  explainCommandAccess: {"method":"GET","path":"/commands/{id}/access","access":["admin","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  executeCommand: {"method":"POST","path":"/commands/{id}/execute","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listExecutions: {"method":"GET","path":"/commands/executions","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getExecution: {"method":"GET","path":"/commands/executions/{id}","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  followExecutionOutput: {"method":"GET","path":"/commands/executions/{id}/output","access":["admin","devops","service","auditor"],"answer":"events","isKeyed":false,"isRepeatable":true},
  cancelExecution: {"method":"POST","path":"/commands/executions/{id}/cancel","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":true,"isRepeatable":true},
  approveExecution: {"method":"POST","path":"/commands/executions/{id}/approve","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":true,"isRepeatable":true},
  rejectExecution: {"method":"POST","path":"/commands/executions/{id}/reject","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":true,"isRepeatable":true},
  getCommandPolicy: {"method":"GET","path":"/commands/policy","access":["admin","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  setCommandPolicy: {"method":"PUT","path":"/commands/policy","access":["admin"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getCommandPolicyHistory: {"method":"GET","path":"/commands/policy/history","access":["admin","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  createWebhook: {"method":"POST","path":"/webhooks","access":["admin"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listWebhooks: {"method":"GET","path":"/webhooks","access":["admin"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getWebhook: {"method":"GET","path":"/webhooks/{id}","access":["admin"],"answer":"json","isKeyed":false,"isRepeatable":true},
  editWebhook: {"method":"PATCH","path":"/webhooks/{id}","access":["admin"],"answer":"json","isKeyed":false,"isRepeatable":false},
  deleteWebhook: {"method":"DELETE","path":"/webhooks/{id}","access":["admin"],"answer":"none","isKeyed":false,"isRepeatable":true},
  rotateWebhook: {"method":"POST","path":"/webhooks/{id}/rotate","access":["admin"],"answer":"json","isKeyed":true,"isRepeatable":true},
  testWebhook: {"method":"POST","path":"/webhooks/{id}/test","access":["admin"],"answer":"json","isKeyed":true,"isRepeatable":true},
  listWebhookDeliveries: {"method":"GET","path":"/webhooks/{id}/deliveries","access":["admin"],"answer":"json","isKeyed":false,"isRepeatable":true},
  redeliverWebhook: {"method":"POST","path":"/webhooks/{id}/deliveries/{delivery_id}/redeliver","access":["admin"],"answer":"json","isKeyed":true,"isRepeatable":true},
  recoverWebhook: {"method":"POST","path":"/webhooks/{id}/recover","access":["admin"],"answer":"json","isKeyed":true,"isRepeatable":true},
  getOverview: {"method":"GET","path":"/overview","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getOverviewSeries: {"method":"GET","path":"/overview/series","access":["admin","devops","service","auditor"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getConfig: {"method":"GET","path":"/config","access":["admin"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getDoctorReport: {"method":"GET","path":"/doctor","access":["admin"],"answer":"json","isKeyed":false,"isRepeatable":true},
  getHealth: {"method":"GET","path":"/health","access":"public","answer":"json","isKeyed":false,"isRepeatable":true},
  getMetrics: {"method":"GET","path":"/metrics","access":"public","answer":"text","isKeyed":false,"isRepeatable":true},
  getLive: {"method":"GET","path":"/health/live","access":"public","answer":"json","isKeyed":false,"isRepeatable":true},
  getReady: {"method":"GET","path":"/health/ready","access":"public","answer":"json","isKeyed":false,"isRepeatable":true},
} as const
