import type { FaultCode } from '../api/generated.ts'

/**
 * A sentence of the platform in other words. It writes English: `en` is left out where its own sentence says as much or more.
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

/** What is wrong with a field; `{name}` stands for a value of the fault. Left out: what the platform's sentence says best. */
export const FAULTS: Readonly<Partial<Record<FaultCode, Rewording>>> = {
  required: { en: 'This field is required.', zh: '此字段为必填项。' },
  reason_required: { zh: '须由另一个人决定，因此请说明原因。' },
  old_password_required: { en: 'Your current password is required.', zh: '请输入您当前的密码。' },
  level_required: { zh: '没有权重时必须给出级别。' },
  unknown_field: { zh: '平台不认识此字段；它的版本可能与此页面不同，请刷新页面。' },
  unknown_parameter: { zh: '没有此参数。' },
  repeated_parameter: { zh: '此参数只能出现一次。' },
  unknown_command: { zh: '没有这个命令。' },
  wrong_type: { zh: '类型不正确。' },
  // The pattern itself helps nobody; the hint of the field says what is allowed.
  wrong_form: { en: 'It does not have the expected form.', zh: '格式不符合要求。' },
  not_in_list: { zh: '只能是以下之一：{allowed}。' },
  none_of_list: { zh: '只能是以下之一或多个：{allowed}。' },
  not_a_time: { zh: '必须是有效的时间。' },
  not_a_name: { zh: '用户名可用 1 到 254 个 A-Z a-z 0-9 . _ @ + -，且不能是“.”或“..”。' },
  not_a_user: { zh: '没有这个用户。' },
  not_text: { zh: '文本包含无效字符。' },
  not_exact: { zh: '数字过大，无法精确表示。' },
  not_unique: { zh: '不能有重复项。' },
  not_an_integer: { en: 'It must be an integer.', zh: '必须是整数。' },
  out_of_range: {
    en: 'It must be an integer from {minimum} to {maximum}.',
    zh: '必须是 {minimum} 到 {maximum} 之间的整数。',
  },
  too_short: { en: 'At least {minimum} characters are needed.', zh: '至少需要 {minimum} 个字符。' },
  too_long: { en: 'At most {maximum} characters are allowed.', zh: '最多 {maximum} 个字符。' },
  too_many_bytes: { zh: 'UTF-8 编码后最多 {maximum}。' },
  too_many_bytes_together: { zh: '合计最多 {maximum}。' },
  too_few_items: { en: 'At least {minimum} are needed.', zh: '至少需要 {minimum} 项。' },
  too_many_items: { en: 'At most {maximum} are allowed.', zh: '最多 {maximum} 项。' },
  too_few_fields: { en: 'Fill in at least {minimum} of these fields.', zh: '请至少填写其中 {minimum} 项。' },
  too_many_fields: { en: 'At most {maximum} are allowed.', zh: '最多 {maximum} 项。' },
  too_small: { en: 'It must be at least {minimum}.', zh: '不得小于 {minimum}。' },
  too_large: { en: 'It must be at most {maximum}.', zh: '不得大于 {maximum}。' },
  not_in_future: { en: 'It must be in the future.', zh: '必须是将来的时间。' },
  not_after: { en: 'It must be after the start.', zh: '必须晚于开始时间。' },
  too_far_after: { en: 'It must be at most {maximum} after the start.', zh: '距开始时间过长。' },
  repetitive_password: {
    en: 'At least {minimum} different characters are needed.',
    zh: '至少需要 {minimum} 个不同的字符。',
  },
  user_name_password: {
    en: 'It must not be the name of the user, even with digits and signs added.',
    zh: '不能是用户名，也不能只是在用户名上添加数字或符号。',
  },
  common_password: {
    en: 'It is a common password, or one with digits and signs added.',
    zh: '这是常见密码，或只是在常见密码上添加了数字或符号。',
  },
  secret_variable: { zh: '包含代表机密的变量。' },
  private_key: { zh: '不能包含私钥。' },
  pem_without_block: { zh: 'PEM 中没有以 -----BEGIN CERTIFICATE----- 开头的块。' },
  pem_with_many_blocks: { zh: 'PEM 有 {blocks} 个块，最多允许 {maximum} 个。' },
  pem_block: { zh: 'PEM 的第 {block} 个块不是有效的证书。' },
  menu_duplicate_id: { zh: '{id} 出现了两次。' },
  menu_two_parents: { zh: '位于 {outer} 之下，却又指定了上级 {parent}。' },
  menu_unknown_parent: { zh: '没有上级菜单 {parent}。' },
  menu_deleted_parent: { zh: '其上级 {parent} 将被删除。' },
  menu_cycle: { zh: '会位于自身之下：{loop}' },
  menu_too_deep: { zh: '会使 {id} 超出菜单的最大层级 ({maximum})。' },
  menu_too_many: { zh: '菜单最多有 {maximum} 项，此项已超出。' },
}
