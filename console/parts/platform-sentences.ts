/**
 * A sentence of the platform in other words. It writes English: `en` is left out where its own sentence says as much or more.
 * `$1` is what the pattern has captured.
 */
export interface Rewording {
  readonly en?: string
  readonly zh: string
}

/** By the codes of failures (docs/reference/errors.md). */
export const FAILURES: Readonly<Record<string, Rewording>> = {
  unreachable: {
    en: 'The platform cannot be reached. Check your connection, then try again.',
    zh: '无法连接到平台。请检查网络连接后重试。',
  },
  forbidden: { en: 'Your roles do not allow this.', zh: '您的角色无权执行此操作。' },
  unauthenticated: { en: 'Your session has ended. Sign in again.', zh: '您的会话已结束，请重新登录。' },
  read_only: {
    en: 'The platform is read-only at the moment: nothing can be changed.',
    zh: '平台当前为只读模式，无法进行任何更改。',
  },
  store_unavailable: {
    en: 'The database does not answer at the moment. Try again.',
    zh: '数据库暂时没有响应，请重试。',
  },
  internal: {
    en: 'The platform failed to answer. Its log has the cause.',
    zh: '平台未能响应，原因见平台日志。',
  },
  validation_failed: { en: 'Some fields are not valid.', zh: '部分字段无效。' },
  malformed_json: { zh: '请求内容不是有效的 JSON。' },
  route_not_found: { zh: '平台没有此接口；它的版本可能与此页面不同，请刷新页面。' },
  method_not_allowed: { zh: '平台不支持此操作；它的版本可能与此页面不同，请刷新页面。' },
  payload_too_large: { zh: '内容过大，平台无法接收。' },
  unsupported_media_type: { zh: '平台不接受这种格式的内容。' },
  too_many_streams: { zh: '实时连接数已达上限，请稍后重试。' },
  idempotency_key_reused: { zh: '此请求编号已用于另一个请求，请刷新页面后重试。' },
  invalid_transition: { zh: '当前状态不允许此操作。' },
  precondition_failed: {
    en: 'Somebody else has changed this meanwhile. Look at the current version, then try again.',
    zh: '此对象已被他人更改，请重新查看后再试。',
  },
  agent_not_found: { zh: '此代理程序从未发送过遥测数据。' },
  alert_not_found: { zh: '没有这条告警。' },
  backup_not_found: { zh: '没有这个备份。' },
  certificate_not_found: { zh: '没有这个证书。' },
  command_not_found: { zh: '没有这个命令。' },
  execution_not_found: { zh: '没有这次执行。' },
  heartbeat_not_found: { zh: '没有这个心跳。' },
  menu_not_found: { zh: '没有这个菜单项。' },
  message_not_found: { zh: '没有这条消息。' },
  order_not_found: { zh: '没有这个订单。' },
  session_not_found: { zh: '没有这个会话。' },
  silence_not_found: { zh: '没有这个静默。' },
  ticket_not_found: { zh: '没有这个工单。' },
  user_not_found: { zh: '没有这个用户。' },
  forbidden_variable: { zh: '文本包含不允许的变量 ${token} 或 ${password}，请将其删除。' },
  backup_directory_unavailable: { zh: '备份目录不可用，原因见平台日志。' },
  backup_file_not_found: { zh: '此备份没有文件：只有已完成的备份才有文件。' },
  backup_running: { zh: '已有备份正在进行，请等待其完成。' },
  no_space: { zh: '可用空间不足：至少需要数据库大小的 1.2 倍。' },
  certificate_busy: { zh: '另一个请求正在处理此证书的文件，请重试。' },
  certificate_exists: { zh: '此证书已经登记。' },
  certificate_file_unavailable: { zh: '证书文件缺失、被更改，或无法读写。' },
  invalid_certificate: { zh: '无法读取此 PEM 内容。' },
  private_key_refused: { zh: '文本包含私钥，平台没有保存任何内容。请只发送证书，并考虑更换此私钥。' },
  last_admin: { zh: '这是最后一个启用的管理员，请先为另一个用户分配管理员角色。' },
  user_exists: { zh: '此用户名已被使用（不区分大小写）。' },
  users_mirrored: { zh: '备用网关的用户是主网关用户的副本，请在主网关上更改。' },
  menu_cycle: { zh: '菜单项不能位于自身之下。' },
  menu_has_children: { zh: '此菜单项有下级，请先删除或移动它们。' },
  order_exists: { zh: '已有使用此编号的订单。' },
  no_longer_allowed: {
    en: 'The person who requested it may not run this command any more, so it was cancelled.',
    zh: '申请人已无权运行此命令，因此该申请已被取消。',
  },
  own_request: { zh: '您不能批准自己的请求，须由另一个人决定。' },
}

/** What is wrong with a field. */
export const FAULTS: readonly (readonly [RegExp, Rewording])[] = [
  [/^is required/, { en: 'This field is required.', zh: '此字段为必填项。' }],
  // The pattern itself helps nobody; the hint of the field says what is allowed.
  [/^must match pattern/, { en: 'It does not have the expected form.', zh: '格式不符合要求。' }],
  [
    /^must (?:not have more than|have at most) (\d+) characters$/,
    { en: 'At most $1 characters are allowed.', zh: '最多 $1 个字符。' },
  ],
  [/^must not have fewer than 1 characters$/, { en: 'This field is required.', zh: '此字段为必填项。' }],
  [/^must not have fewer than 1 items$/, { en: 'This field is required.', zh: '此字段为必填项。' }],
  [
    /^must not have fewer than 1 properties$/,
    { en: 'Fill in at least one of these fields.', zh: '请至少填写其中一项。' },
  ],
  [
    /^must (?:not have fewer than|have at least) (\d+) characters$/,
    { en: 'At least $1 characters are needed.', zh: '至少需要 $1 个字符。' },
  ],
  [
    /^must have at least (\d+) different characters$/,
    { en: 'At least $1 different characters are needed.', zh: '至少需要 $1 个不同的字符。' },
  ],
  [
    /^must not be the name of the user/,
    {
      en: 'It must not be the name of the user, even with digits and signs added.',
      zh: '不能是用户名，也不能只是在用户名上添加数字或符号。',
    },
  ],
  [
    /^is a common password/,
    {
      en: 'It is a common password, or one with digits and signs added.',
      zh: '这是常见密码，或只是在常见密码上添加了数字或符号。',
    },
  ],
  [/^must match (\^.+)$/, { en: 'It does not match $1', zh: '与 $1 不匹配' }],
  [/^must be >= (\d+)$/, { en: 'It must be at least $1.', zh: '不得小于 $1。' }],
  [/^must be <= (\d+)$/, { en: 'It must be at most $1.', zh: '不得大于 $1。' }],
  [
    /^must be an integer from (\d+) to (\d+)$/,
    { en: 'It must be an integer from $1 to $2.', zh: '必须是 $1 到 $2 之间的整数。' },
  ],
  [/^must be an integer/, { en: 'It must be an integer.', zh: '必须是整数。' }],
  [/^must be a number/, { en: 'It must be a number.', zh: '必须是数字。' }],
  [/^must be a time in RFC 3339/, { zh: '必须是有效的时间。' }],
  [/^must be in the future$/, { en: 'It must be in the future.', zh: '必须是将来的时间。' }],
  [/^must be later than starts_at$/, { en: 'It must be after the start.', zh: '必须晚于开始时间。' }],
  [
    /^must be at most 30 days after starts_at$/,
    { en: 'It must be at most 30 days after the start.', zh: '不得晚于开始时间 30 天以上。' },
  ],
  [/^must be one (?:or more )?of (.+)$/, { zh: '只能是以下之一：$1。' }],
  [/^must not contain a private key$/, { zh: '不能包含私钥。' }],
  [/^The PEM has no block /, { zh: 'PEM 中没有以 -----BEGIN CERTIFICATE----- 开头的块。' }],
  [/^The PEM has (\d+) blocks; at most (\d+) /, { zh: 'PEM 有 $1 个块，最多允许 $2 个。' }],
  [/^Block (\d+) of the PEM is not Base64/, { zh: 'PEM 的第 $1 个块不是有效的 Base64。' }],
  [/^Block (\d+) of the PEM has no line (.+)\.$/, { zh: 'PEM 的第 $1 个块没有 $2 这一行。' }],
  [/^Block (\d+) of the PEM /, { zh: 'PEM 的第 $1 个块不是有效的证书。' }],
  [/ is registered as "(.*)"\.$/, { zh: '此证书已经登记，名称为“$1”。' }],
  [/ contains a private key; /, { zh: '包含私钥，平台没有保存任何内容。请只发送证书，并考虑更换此私钥。' }],
  [/^puts "(.*)" below level (\d+)/, { zh: '会使“$1”超出菜单的最大层级 ($2)。' }],
  [/^is one more than the (\d+) nodes/, { zh: '菜单最多有 $1 项，此项已超出。' }],
  [/^would be below itself: (.+)$/, { zh: '会位于自身之下：$1' }],
  [/^has the parent (.+), which is not named and would be deleted$/, { zh: '其上级 $1 将被删除。' }],
  [/^has the unknown parent (.+)$/, { zh: '没有上级菜单 $1。' }],
]

/** Why a user may run a command or not: each part of the sentence. */
export const ACCESS_REASONS: readonly (readonly [RegExp, Rewording])[] = [
  [/^The user is disabled\.$/, { zh: '该用户已停用。' }],
  [/^The rule of revision (\d+) allows no role$/, { zh: '修订版 $1 的规则不允许任何角色' }],
  [/^The rule of revision (\d+) allows (.+)$/, { zh: '修订版 $1 的规则允许 $2' }],
  [/^There is no rule for this command/, { zh: '此命令没有规则，因此只有 admin 可以运行' }],
  [/^the user has no role\.$/, { zh: '该用户没有角色。' }],
  [/^the user has the role (.+)\.$/, { zh: '该用户拥有角色 $1。' }],
  [/^the user has (.+)\.$/, { zh: '该用户拥有 $1。' }],
]
