import type { FindingCode } from '../../../api/generated.ts'

export interface FindingWords {
  /** Left out where it is a path, an address, a setting, or a name. */
  readonly subject?: string
  readonly detail: string
  readonly remedy: string
  /** What `{remedy}` stands for, by the value `remedyCode`. */
  readonly remedies?: Readonly<Record<string, string>>
}

const RUN = '运行：{command}'
const RUN_AS_ROOT = '以 root 身份运行：{command}'
const TOKEN_REMEDY = '在主服务器上为任一启用的用户运行：platform token issue USER --purpose mirror --ttl 30d'
const PRIMARY_REMEDY = '启动主服务器，或更改 gateway.mirror_from；在此之前使用副本'
const CLOCK_REMEDY = '同步所有主机的时钟（NTP）'
const TIME_REMEDY =
  '检查时钟（timedatectl），若落后则校准；若时钟正确，请参阅 {document} 中的“The clock was ahead”，并立即重新备份'
const NIGHT_REMEDY = '参阅 {document} 中的 {part}，然后运行：platform backup run --no-reboot'
const CERTIFICATE_REMEDY = '在“证书”页面查看并更换它们'
const REGISTERED = '已登记 {registered} 个，{expiring} 个即将到期，{expired} 个已到期'
const ADDRESS_REMEDY = '将 gateway.api_url 设为 api 的地址（其配置中的 api.listen），并重启网关'
const WORKER_REMEDY =
  '启动 worker（platform serve，或 platform serve --module worker）；若已有 worker 运行，请查看其日志，停止响应的需要重启'
const RECEIVER_REMEDY =
  '修复错误所指之处：地址、密钥、发送方或服务器；更改配置后请重启；然后运行：platform alerts test {receiver}'
const PROGRAM_REMEDY = '安装该程序、使其可由该用户执行（chmod），或更正设置并重启 worker'
const ONE_EACH = '若是两套安装，请让其中一套使用自己的数据库（data_dir 或 database.url）'
const BACKUP_REMEDY = '运行：platform data backup，并设置 data.backup_every，由 worker 定期备份'
const ROOM_REMEDY = '腾出空间；可删除的文件，或占用较大者：{commands}'
const BUS_DETAIL = '无法使用，事件正在等待：{reason}'
const CANNOT_USE = '属于 {uid}:{gid}，权限 {mode}：服务的用户 {user} 无法使用它'

const STANDBY_REMEDY =
  '若该服务器上 pg_is_in_recovery() 为 true，则它是备用服务器：将 database.url（DATABASE_URL）设为主服务器；主服务器确已停用时，也可提升此服务器（SELECT pg_promote()）。否则运行 ALTER DATABASE … RESET default_transaction_read_only，或 ALTER ROLE …，psql 的 \\drds 会显示它在何处设置'

/** By the codes of `POSTGRES_REMEDIES` in src/store/dialects/postgres-failure.ts */
const SERVER_REMEDIES = {
  start: '启动该服务器，或更正 database.url（DATABASE_URL）',
  login:
    '更正 database.url（DATABASE_URL）中的用户和密码；若正确，请检查该用户（psql 的 \\du）和服务器的 pg_hba.conf',
  database:
    "若数据库原本存在，请查看它在哪台服务器上（Debian 的 pg_lsclusters 列出本机的服务器：升级后，在 pg_upgradecluster 之前，数据仍在原服务器上）；若是新的数据库，请创建它（CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0）；或更正 database.url（DATABASE_URL）中的数据库名",
  standby: STANDBY_REMEDY,
  owner:
    "将 database.url（DATABASE_URL）中的用户设为数据库的所有者（ALTER DATABASE … OWNER TO …），并设为各表的所有者：以超级用户在 psql 中运行 SELECT format('ALTER TABLE %s OWNER TO …', oid::regclass) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' \\gexec",
  disk: '在服务器的磁盘上腾出空间',
  connections:
    '提高服务器的 max_connections，或结束使用它的其他程序：每个进程占用 10 个连接。超级用户仍可连接：SELECT pid, usename, application_name, client_addr FROM pg_stat_activity 会列出它们，SELECT pg_terminate_backend(pid) 可结束其中之一',
  lock: "结束持有锁的会话：SELECT pid, usename, application_name, state, xact_start, query FROM pg_stat_activity WHERE pid IN (SELECT pid FROM pg_locks WHERE mode LIKE '%Exclusive%' AND relation IS NOT NULL) ORDER BY xact_start 会列出它们，SELECT pg_terminate_backend(pid) 可结束它",
  starting: '等待服务器启动完成；其日志会说明进展',
  host: '更正 database.url（DATABASE_URL）中的主机名，或修复本机的域名解析',
  network: '检查本机与服务器之间的网络和防火墙',
  silent:
    '启动该服务器；若它在运行，请检查本机的域名解析和两者之间的防火墙；或更正 database.url（DATABASE_URL）',
  certificate:
    '若服务器的证书已到期或主机名不符，请更换证书；若由自己的机构签发或为自签名，请在 database.url（DATABASE_URL）中以 sslrootcert 指明该机构的证书（或该证书本身）的文件：?sslmode=verify-full&sslrootcert=/path/ca.pem',
  file: '更正 database.url（DATABASE_URL）中该文件的路径（sslrootcert、sslcert、sslkey），并让服务的用户可以读取它',
  tls: '从 database.url（DATABASE_URL）中删除 sslmode，或为服务器配置证书（ssl = on）',
  primary: '提升一台备用服务器，或将其地址加入 database.url（DATABASE_URL）',
}

/** What to do about an alert that needs a person, by its `alarm_id` in docs/reference/alerts.md */
const ALERT_REMEDIES = {
  'payment.late:*': '退款，或以其他方式满足客户，然后将其标记为已处理',
  'payment.duplicate:*': '退回第二笔支付',
  'payment.amount_mismatch:*': '与支付渠道核对该支付，然后退款；或手工变更订单状态，并将其标记为已处理',
  'payment.unknown_order:*': '按支付渠道的编号找到客户，在支付渠道或此处退款，然后将其标记为已处理',
  'payment.refund_failed:*': '在支付渠道查看该退款，然后再次退款，或将该支付标记为已处理',
  'payment.reconciliation:*': '查看对账的差异，更正它们，然后重新对账该日',
  'vpn.pool:*':
    '为所有网关设置更大的 vpn.ip_pool 并重启它们（会话会短暂中断）；或断开一些会话（DELETE /vpn/sessions/{id}）',
  'telemetry.refused': '消除告警所指的原因，然后重新投递无法投递的消息',
  'heartbeat.missed:*':
    '检查应发送心跳的程序。若它在运行，日志中有地址错误的 ping 来自哪台主机：POST /alerts/heartbeats/{name}/rotate 会生成新的地址',
  'certificate.file:*': '从备份恢复该文件，或删除该证书并重新登记',
  'data.backup.failed': '消除告警所指的原因，然后进行一次备份',
  'command.incomplete:*': '检查该命令做了什么，必要时重新请求执行',
  'command.not_started:*': '检查是否有 worker 在运行且其配置中有此命令，然后重新请求执行',
  'webhook.disabled:*':
    '修复该端点。POST /webhooks/{id}/recover 会重新启用此 webhook，并先发送错过的事件，再发送新的事件；起始时间见告警正文。若应保持停用，请删除它',
  'backup.failed': '查看 error_code 和日志；夜间备份会重试到 06:00',
  'backup.failed.critical': '处理工单，然后运行：platform backup run',
  'system.reboot.init': '若告警一直存在，请检查服务器是否已启动，并运行：platform backup selfcheck',
  'system.reboot.blocked': '消除告警所指的原因；在此之前服务器不会重启',
  'system.selfcheck.failed': '处理工单，然后运行：platform backup selfcheck；在此之前不会重启',
}

/** What `platform doctor` warns of, in Chinese; `{name}` stands for a value. The English sentences are those of the platform. */
export const DOCTOR_FINDINGS_ZH: Readonly<Record<FindingCode, FindingWords>> = {
  check_failed: { detail: '检查未能完成：{reason}', remedy: '参阅 {document}' },

  configuration_invalid: {
    subject: '设置',
    detail: '{reason}',
    remedy: '更正配置：{document}；降级之后请删除只有新版本才认识的设置',
  },
  configuration_empty: {
    detail: '是空文件，因此所有设置均为默认值',
    remedy: '恢复您的副本；若不需要任何设置，请删除此文件，或在其中写一行注释',
  },
  configuration_writable: { detail: '权限 {mode}：任何用户都能更改它，从而决定平台运行什么', remedy: RUN },
  configuration_readable: { detail: '权限 {mode}：任何用户都能读取 {settings}', remedy: RUN },
  secrets_unusable: {
    detail: '{setting}：{reason}',
    remedy: '必须是 {expected}；否则平台无法启动',
  },
  environment_not_loaded: {
    detail: '服务单元会加载它，而此命令不会：其中的设置未被检查',
    remedy: RUN_AS_ROOT,
  },
  variable_unknown: { detail: '{name} 不是任何设置的变量{suggestion}', remedy: '更正变量名' },

  service_failed: {
    detail: '已失败（{result}，状态 {status}）',
    remedy: '原因在最后几行日志中：journalctl -u {unit} -n 20；随后运行：systemctl start {unit}',
  },
  service_restarts: {
    detail: '每次启动后很快结束（{result}，状态 {status}），并被再次启动',
    remedy: '原因在最后几行日志中：journalctl -u {unit} -n 20',
  },
  service_stopped: { detail: '已启用，但未运行', remedy: '运行：systemctl start {unit}' },
  service_unstable: {
    detail: '已自行结束并被再次启动 {count} 次',
    remedy:
      "查看原因：journalctl -u {unit} -g 'Main process exited|oom|watchdog'；systemctl restart {unit} 后重新计数",
  },
  service_read_only: {
    detail: '其服务单元不允许写入 {path}（ProtectSystem=strict）',
    remedy: RUN_AS_ROOT,
  },
  service_user_missing: {
    detail: '以用户 {user} 的身份运行，而本机没有该用户',
    remedy:
      '创建该用户（如安装包所做：adduser --system --group --home /var/lib/platform --no-create-home {user}），然后再次运行 platform doctor：它会指出属于原用户编号的文件',
  },

  data_dir_broken: { detail: '无法使用：{reason}', remedy: '{remedy}' },
  data_dir_no_directory: { detail: '不是目录', remedy: '将它移走，或更改 data_dir' },
  data_dir_of_root: { detail: '属于用户 {owner}', remedy: RUN_AS_ROOT },
  data_dir_of_other: {
    detail: '属于用户 {owner}',
    remedy: '以该用户的身份运行此命令：{command}',
  },
  data_dir_open: { detail: '权限 {mode}：任何用户都能查看其内容', remedy: RUN },
  data_dir_copied: {
    detail: '属于 root，如同由 root 复制而来；而 {above} 属于用户 {owner}',
    remedy: '若平台以用户 {owner} 的身份运行，请以 root 身份运行：{command}',
  },
  files_of_other: {
    detail: '目录属于用户 {owner}，而其中 {count} 个文件属于用户 {user}：{files}',
    remedy: RUN_AS_ROOT,
  },
  files_unreadable: { detail: '所有者无法读取其中 {count} 个文件：{files}', remedy: RUN },
  files_writable: { detail: '任何用户都能写入其中 {count} 个文件：{files}', remedy: RUN },
  key_readable: { detail: '权限 {mode}：密钥只能由其所有者读取', remedy: RUN },
  key_refused: { detail: '无法使用：{reason}', remedy: '应为：{expected}' },
  key_lost: { detail: '签名密钥缺失：{reason}', remedy: '{remedy}' },
  key_changed: {
    detail: '与上次启动时的密钥不同；下次启动后，原密钥签发的令牌将失效',
    remedy: '若此密钥正确，请重启平台，此后即使用它；否则请恢复您的副本',
  },
  key_replaced: {
    detail: '已取代另一个密钥：原密钥签发的令牌全部失效',
    remedy: '恢复原密钥的副本并重启，或为各程序重新签发令牌；此提示将于 {until} 消失',
  },
  audit_key_lost: {
    detail: '缺少密钥 {keys}：用它封存的审计记录无法验证',
    remedy: '从您的副本，或从封存它的 worker 所在主机，补上相应的行；没有副本的密钥无法找回',
  },
  seal_missing: {
    detail: '含有封印 {seal}，而审计记录中没有它：末尾的记录被删除，或数据库被更换',
    remedy: '查明是谁所为（platform audit verify），然后运行：platform audit accept {seal}',
  },

  access_denied: { detail: CANNOT_USE, remedy: RUN },
  access_denied_above: { detail: CANNOT_USE, remedy: '运行：{command}，或移走其中的文件' },

  port_in_use: {
    detail: '另一个程序或一个没有响应的平台正在使用此端口（EADDRINUSE）',
    remedy:
      '查看是哪个程序（ss -ltnp）：结束其他程序；若是平台则重启它，文件数上限低于 1,024 时请提高（prlimit --nofile）；或更改 {setting}',
  },
  port_unusable: { detail: '无法监听：{reason}（{error}）', remedy: '{remedy}；或更改 {setting}' },
  platform_failing: {
    detail: '平台有响应（{version}，{modules}），但无法使用其数据库',
    remedy: '查看数据库一项；若数据库正常，则该进程使用了另一个用户、文件或密码：请重启它',
  },
  platform_outdated: {
    detail: '平台有响应（{version}，{modules}，{status}）；其配置文件在启动后被更改',
    remedy: '重启平台：配置只在启动时读取',
  },

  tls_missing: {
    detail: '密码和令牌未经 TLS 加密就在网络上传输',
    remedy: '设置 {module}.tls.cert_file 和 {module}.tls.key_file，或在代理之后监听回环地址',
  },
  tls_ends: {
    detail: '其证书的到期时间：{at}',
    remedy: '更换 {file}（{module}.tls.cert_file）及其密钥；平台会自动重新读取',
  },
  tls_unusable: {
    detail: '无法使用：{reason}',
    remedy:
      '将证书放入 {cert}（{module}.tls.cert_file），将其密钥放入 {key}（{module}.tls.key_file）；运行中的平台会自动重新读取。若二者配对，以下命令会输出两行相同的内容：{command}',
  },

  clock_before_migration: {
    subject: '本机时钟',
    detail: '{now} 早于最近一次迁移 {migratedAt}',
    remedy: '校准时钟（timedatectl set-ntp true，或 date --set=…），然后重启平台',
  },
  clock_ahead: { detail: '比本机快 {differenceMs} 毫秒', remedy: CLOCK_REMEDY },
  clock_behind: { detail: '比本机慢 {differenceMs} 毫秒', remedy: CLOCK_REMEDY },

  disk_full: {
    detail: '可用空间 {freeMib} MiB，共 {allMib} MiB：磁盘写满后无法保存数据',
    remedy: ROOM_REMEDY,
  },
  disk_low: { detail: '可用空间 {freeMib} MiB，共 {allMib} MiB', remedy: ROOM_REMEDY },
  disk_too_small: {
    detail: '可用空间 {freeMib} MiB，共 {allMib} MiB；数据备份需要 {neededMib} MiB',
    remedy: ROOM_REMEDY,
  },
  log_disk_low: {
    detail: '剩余 {freeMib} MiB，共 {allMib} MiB：磁盘写满后日志会丢失',
    remedy: ROOM_REMEDY,
  },
  log_deleted: {
    detail: '已被删除，而进程 {process} 仍在写入：这些日志无人可见，且占用空间',
    remedy: '重启该进程',
  },
  inodes_low: {
    detail: '可用 inode {free} 个，共 {all} 个',
    remedy: '删除不再需要的文件；显示文件最多的位置：{command}',
  },
  disk_of_network: { detail: '位于 {fileSystem}', remedy: '将 data_dir 移到本地磁盘：SQLite 需要本地磁盘' },

  server_unreachable: {
    detail: '无法连接：{reason}',
    remedy: '{remedy}；或将它从 database.url 的列表中删除',
    remedies: SERVER_REMEDIES,
  },
  server_former_primary: { detail: '仍在接受更改，但另一台服务器已升为主服务器', remedy: '停止这台服务器' },
  file_left: {
    detail: '含有 PostgreSQL 数据库中没有的数据，且未被使用',
    remedy:
      '若要使用这些数据：停止平台，重新创建 PostgreSQL 数据库，删除 database.url，然后运行“platform db copy”（参阅 docs/guide/operating.md 的“From SQLite to PostgreSQL”）；否则将该文件移走',
  },
  lock_held: {
    subject: '写锁',
    detail: '进程 {process}（{name}）占用它已 2 秒，期间的更改均以 503 拒绝',
    remedy: '查看它在做什么（ps {process}）；若不是迁移，请结束它：kill {process}',
  },
  database_elsewhere: {
    detail: '不存在或为空，而 {listener} 上有平台应答：它已丢失此数据库，或使用另一个数据库',
    remedy:
      '若 {path} 被移走或其磁盘未挂载（findmnt），请将其放回并重启平台；若服务使用其他设置，请以相同的设置运行此命令（--config、DATA_DIR、DATABASE_URL）',
  },
  database_gone: { detail: '已丢失，但 {remains} 仍在', remedy: '{remedy}' },
  database_absent: { detail: '不存在或为空，但 jwt-secret 存在', remedy: '若曾有数据库：{remedy}' },
  database_newer: { detail: '属于更新的版本：{reason}', remedy: '安装该版本，或恢复升级之前的备份' },
  database_unusable: { detail: '无法使用：{reason}', remedy: '{remedy}' },
  database_damaged: { detail: '已损坏：{reason}', remedy: '停止平台，然后运行：{command}' },
  rows_lost: {
    detail: '其中的行被平台以外的程序删除：{table} 中有 {count} 行引用它们',
    remedy:
      '若需要这些行，请停止平台，然后运行：{command}；参见 {document} 的“When rows were deleted by another program”',
  },
  database_read_only: { detail: '已开启：此服务器不接受更改', remedy: STANDBY_REMEDY },
  schema_pending: {
    subject: '数据库结构',
    detail: '{newest}；待执行：{pending}',
    remedy: '重启，或运行：platform db migrate，它会说明某一步失败的原因',
  },
  schema_newer: { subject: '数据库结构', detail: '更新的版本已添加 {steps}', remedy: '升级此程序' },
  database_setting: { detail: '为 {value}', remedy: '更改它：已确认的更改可能丢失，或文字可能损坏' },

  releases_differ: {
    subject: '版本',
    detail: '各进程的版本不一致：{versions}',
    remedy: '用新版本的程序重启旧版本的进程',
  },
  buses_differ: {
    subject: '总线',
    detail: '各进程的总线不一致：{buses}；每个事件只发往其中之一',
    remedy: `${ONE_EACH}；若是一套，请让所有进程使用相同的 bus.server；若这些地址通向同一服务器，则无需处理`,
  },
  bus_of_others: {
    subject: '总线',
    detail: '各进程使用 {bus}，而此配置为 {own}',
    remedy: '若更改过 bus.server，请重启各进程；或用它们的配置运行 doctor（--config）',
  },
  process_of_other_database: {
    subject: '使用此数据库的进程',
    detail: '没有进程在运行，而 {listener} 上的平台使用另一个数据库：用此配置运行的命令不会影响该平台',
    remedy:
      "查看它的设置来自何处（systemctl cat 'platform*' 会显示 Environment 和 EnvironmentFile）：用相同的 DATA_DIR 或 DATABASE_URL 以及 --config 运行此命令和其他命令；或更正设置并重启它",
  },
  data_dirs_differ: {
    detail: '{host} 上各进程的目录不一致：{directories}',
    remedy: `${ONE_EACH}；若是一套，请让所有进程使用相同的 data_dir：密钥、证书和备份都在其中`,
  },
  engine_near_end: {
    detail: '{load}：SQLite 在这台服务器上已接近极限',
    remedy: '参阅 {document}；platform db copy 可将数据迁移到 PostgreSQL',
  },
  worker_missing: { subject: '进程', detail: '使用此数据库的进程中没有 worker', remedy: WORKER_REMEDY },
  orders_overdue: {
    subject: '订单',
    detail: '有订单到期 {minutes} 分钟后仍未处理：没有 worker 使其过期',
    remedy: WORKER_REMEDY,
  },
  payments_failing: {
    detail: '支付渠道最近 5 笔支付均未能发起',
    remedy: '将 secrets_file 中的密钥与支付渠道的密钥核对；支付渠道的响应见日志',
  },

  bus_unreachable: { detail: BUS_DETAIL, remedy: '启动它，或更改 bus.server' },
  bus_stopped: { detail: BUS_DETAIL, remedy: '启动它（{command}），或更改 bus.server' },
  bus_certificate_refused: {
    detail: BUS_DETAIL,
    remedy: '更换总线的证书；若由自己的机构签发，请将 NODE_EXTRA_CA_CERTS 设为该机构的证书文件',
  },
  bus_login_refused: { detail: BUS_DETAIL, remedy: '更正 bus.server 中的登录信息' },
  bus_is_other_program: {
    detail: BUS_DETAIL,
    remedy:
      '查看在那里监听的程序（在该主机上运行 ss -ltnp）：若是 NATS 无响应，请重启它；若是其他程序，请更正 bus.server 中的端口',
  },
  bus_unanswered: { detail: BUS_DETAIL, remedy: '检查本机与总线之间的网络和防火墙，或更正 bus.server' },
  bus_host_unknown: { detail: BUS_DETAIL, remedy: '更正 bus.server 中的主机名，或修复本机的域名解析' },
  bus_lost: {
    subject: '消息',
    detail: '消息流于 {at} 重建，此前已确认的消息丢失',
    remedy: '检查其 store_dir 是否持久，然后运行：{command}',
  },
  bus_unstored: {
    subject: '消息',
    detail: '总线没有 JetStream，未存储 {since} 至 {until} 投递的消息',
    remedy: RUN,
  },
  bus_payload_small: { detail: '{bytes} 字节', remedy: '设为 {needed} 或更大：更大的消息将无法投递' },
  jetstream_off: {
    detail: '未启用',
    remedy:
      '启用它（配置中的 jetstream 块，或 -js），否则没有订阅者的消息会丢失；如果以前是启用的，随后运行：platform messages replay --since TIME，TIME 为日志中 "the bus has no JetStream" 的时间',
  },
  jetstream_off_since: {
    detail: '自 {since} 起未启用：总线不存储它确认的消息',
    remedy: '启用它（配置中的 jetstream 块，或 -js），否则没有订阅者的消息会丢失；随后运行：{command}',
  },
  stream_full: { detail: '已存储 {used} 字节，上限 {limit} 字节', remedy: '提高上限：存满后消息须等待' },
  stream_silent: { detail: '不确认消息（no_ack 或 sealed）', remedy: '更改或删除它' },
  messages_wait: {
    subject: '等待的消息',
    detail: '{subject} 自 {since} 起等待：{reason}',
    remedy: '消除原因：JetStream 已满时需增大 max_file_store、磁盘或消息流的 max_bytes。等待的消息会自动发送',
  },
  messages_unsent: {
    subject: '等待的消息',
    detail: '{subject} 自 {since} 起等待：没有进程发送它',
    remedy: '启动 api 或 worker：它会发送等待的消息',
  },
  messages_dead: {
    subject: '无法投递的消息',
    detail: '{count} 条被永久拒绝',
    remedy: '在“消息”页面查看原因；消除原因后重新投递，或运行命令 messages.redrive-dead',
  },

  certificates_ended: { subject: '登记的证书', detail: REGISTERED, remedy: CERTIFICATE_REMEDY },
  certificates_end_soon: { subject: '登记的证书', detail: REGISTERED, remedy: CERTIFICATE_REMEDY },
  certificate_files_lost: {
    detail: '缺少 {count} 个已登记证书的文件：{names}',
    remedy:
      '从您的副本或夜间备份恢复此目录（platform backup restore --latest --into DIRECTORY），或重新登记这些证书',
  },

  receiver_outdated: {
    detail: '{host} 上的进程 {process} 使用了它的旧地址或旧密钥',
    remedy: '重启该进程：它一直使用启动时读取的地址和密钥',
  },
  receiver_failing: {
    detail: '自 {since} 起失败：{reason}；上次发送于 {sentAt}；等待的消息：{pending}',
    remedy: RECEIVER_REMEDY,
  },
  receiver_never_reached: {
    detail: '自 {since} 起失败：{reason}；从未发送成功；等待的消息：{pending}',
    remedy: RECEIVER_REMEDY,
  },
  all_silenced: {
    detail: '由 {by} 设置，直到 {until}：不发送任何告警（{reason}）',
    remedy: '若非本意，请结束它：DELETE /alerts/silences/{silence}，或控制台的“静默”页面',
  },
  alert_open: { detail: '自 {since}：{text}', remedy: '{remedy}', remedies: ALERT_REMEDIES },
  program_missing: { detail: '{program} 不存在', remedy: PROGRAM_REMEDY },
  program_not_in_path: { detail: 'PATH 的目录（{path}）中没有 {program}', remedy: PROGRAM_REMEDY },
  program_not_executable: { detail: '服务的用户无法执行 {program}', remedy: PROGRAM_REMEDY },
  webhook_failing: {
    detail: '{host} 自 {since} 起失败；{pending} 个事件在等待；连续失败 5 天后将被停用',
    remedy:
      '修复该端点：其响应见 GET /webhooks/{webhook}/deliveries；请参阅 {document} 中的“When a receiver fails”',
  },
  execution_waits: {
    detail: '自 {since} 起排队',
    remedy: '启动配置中有此命令的 worker；若已有，则此命令的执行数已达 max_concurrent',
  },
  execution_late: {
    detail: '自 {since} 起在 {host} 上运行，已超过 {minutes} 分钟的时限',
    remedy:
      '取消执行 {execution}；若仍未结束，请重启该主机上的 worker，并参阅 {document} 中的“When something goes wrong”',
  },
  admin_missing: {
    subject: '管理员',
    detail: '没有启用的管理员',
    remedy: '运行：platform user enable NAME，或 platform user add NAME --role admin',
  },
  provider_unreachable: {
    detail: '没有响应：{reason}',
    remedy: '启动它，或修复其地址或本机的域名解析；在此之前只能用密码登录',
  },
  provider_unusable: { detail: '无法使用：{reason}', remedy: '将 auth.oidc.issuer 与提供方自称的名称核对' },

  api_unreachable: { detail: '没有响应：{reason}', remedy: '启动 api，或更改 gateway.api_url' },
  api_is_other_program: { detail: '该地址上应答的不是平台的 api（{said}）', remedy: ADDRESS_REMEDY },
  api_other_protocol: {
    detail: '不使用此协议：{reason}',
    remedy: `若它是 api：api 有证书（api.tls.cert_file）时 gateway.api_url 以 https:// 开头，否则以 http:// 开头；若不是：${ADDRESS_REMEDY}`,
  },
  api_answer: {
    detail: '响应状态为 {status}：{message}',
    remedy: '在 api 所在的主机上运行 platform doctor，它会指出原因',
  },
  api_is_gateway: { detail: '是网关，而不是 api', remedy: ADDRESS_REMEDY },
  gateway_unknown: {
    detail: '不认识此网关，因此拒绝所有会话的请求',
    remedy: '让两者使用相同的 auth.jwt_secret，并校准时钟',
  },
  mirror_token_unusable: { detail: '无法使用：{reason}', remedy: TOKEN_REMEDY },
  primary_refused: { detail: '拒绝请求：{reason}', remedy: TOKEN_REMEDY },
  primary_unreachable: { detail: '无法连接：{reason}', remedy: PRIMARY_REMEDY },
  primary_unusable: { detail: '无法使用其响应：{reason}', remedy: '在两台服务器上安装相同的版本' },
  pools_overlap: { detail: '与主服务器的 {pool} 重叠', remedy: '为每台服务器设置自己的地址池' },
  copy_too_old: {
    subject: '用户副本',
    detail: '{seconds} 秒前（{at}）为最新：不再接受新会话',
    remedy: PRIMARY_REMEDY,
  },
  copy_old: {
    subject: '用户副本',
    detail: '{seconds} 秒前（{at}）为最新',
    remedy: '启动这台服务器上的平台，并查看主服务器一项',
  },

  night_never: { subject: '夜间备份', detail: '从未成功', remedy: NIGHT_REMEDY },
  night_never_failed: {
    subject: '夜间备份',
    detail: '从未成功；最近的错误 {error}：{reason}',
    remedy: NIGHT_REMEDY,
  },
  night_late: { subject: '夜间备份', detail: '上次成功于 {at}', remedy: NIGHT_REMEDY },
  night_failed: {
    subject: '夜间备份',
    detail: '上次成功于 {at}；此后的错误 {error}：{reason}',
    remedy: NIGHT_REMEDY,
  },
  drill_failed: {
    subject: '恢复演练',
    detail: '备份 {backup} 的演练已于 {at} 失败',
    remedy: '按 {report} 所述处理，然后运行：platform backup restore --latest',
  },
  night_in_future: {
    subject: '夜间备份',
    detail: '上次成功于 {at}，晚于当前时间：时钟曾经超前，或现在落后',
    remedy: TIME_REMEDY,
  },
  night_state_lost: {
    detail: '已丢失，夜间备份的状态和待发送的告警也一并丢失；其服务单元仍然存在',
    remedy: '以 root 身份运行：platform backup install，然后 platform backup run --no-reboot',
  },
  night_timer_elsewhere: {
    detail: '触发时间为 {calendar}，而配置中为 {expected}',
    remedy: '{remedy}',
    remedies: {
      own: '以 root 身份运行：platform backup install',
      drop_in: '更正 {files} 中的 OnCalendar，然后以 root 身份运行：systemctl daemon-reload',
      changed: '此文件被手工更改；以 root 身份运行：rm {files} && platform backup install',
    },
  },
  night_refused: {
    detail: '不认识夜间备份，因此收不到它的告警：{reason}',
    remedy:
      '将 backup.platform_api 设为 api 本身的地址（既非网关，也非代理），并让两者使用相同的 auth.jwt_secret 和相同的时间',
  },
  night_unheard: {
    detail: '夜间备份的告警可能无法送达：{reason}',
    remedy: '{remedy}',
    remedies: {
      failing: '此地址上的平台出错：“platform doctor”会指出原因',
      unreachable: '启动平台，或更改 backup.platform_api',
    },
  },
  drive_shared: {
    subject: '网盘的 root_dir',
    detail: '含有其他服务器的备份：{servers}',
    remedy: '在每台服务器的令牌文件中设置各自的 root_dir',
  },
  drive_file_missing: { detail: '不存在', remedy: '参阅 {document} 中的“Setting it up”' },
  drive_file_open: { detail: '权限 {mode}：夜间备份拒绝使用它', remedy: RUN },
  drive_file_unusable: {
    detail: '无法使用：{reason}',
    remedy: '恢复您的副本，或重新生成：参阅 {document} 中的“Authorising the drive”',
  },
  backup_never: { subject: '数据备份', detail: '从未备份', remedy: BACKUP_REMEDY },
  backup_late: { subject: '数据备份', detail: '上次备份于 {at}', remedy: BACKUP_REMEDY },
  backup_in_future: {
    subject: '数据备份',
    detail: '上次备份于 {at}，晚于当前时间：时钟曾经超前，或现在落后',
    remedy: TIME_REMEDY,
  },
  backup_file_lost: {
    subject: '数据备份',
    detail: '上次备份于 {at}，但不在 {directory} 中：{reason}',
    remedy: '若它在另一台主机上，则无需处理；否则运行：platform data backup',
  },
}
