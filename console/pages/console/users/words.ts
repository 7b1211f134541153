import { defineWords } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const userWords = defineWords({
  related: {
    sessions: ['VPN sessions', 'VPN 会话'],
    executions: ['Executions', '执行记录'],
    tickets: ['Tickets', '工单'],
    audit: ['What this user did', '此用户的操作'],
  },
  ...PAGE_WORDS.users,
  list: ['List of users', '用户列表'],
  empty: ['There are no users.', '没有用户。'],
  noMatch: ['No user matches the filters.', '没有符合筛选条件的用户。'],
  fields: {
    id: ['Id', '标识'],
    name: ['Name', '名称'],
    password: ['Password', '密码'],
    repeated_password: ['The same again', '再次输入'],
    old_password: ['Present password', '当前密码'],
    roles: ['Roles', '角色'],
    state: ['State', '状态'],
    last_login_at: ['Last sign-in', '最近登录'],
    created_at: ['Created', '创建时间'],
    updated_at: ['Changed', '更改时间'],
  },
  hints: {
    name: ['1 to 254 letters, digits or . _ @ + -', '1 至 254 个字母、数字或 . _ @ + -'],
    password: [
      '12 to 256 characters, at least 5 different ones; not a common password, and not the name',
      '12 至 256 个字符，至少 5 个不同的字符；不能是常见密码或用户名称',
    ],
    roles: [
      'Administrator: everything. Operations (devops): reads orders; works on alerts, tickets, certificates, backups and VPN sessions; runs the commands that the policy allows. Service: programs of the shop. Auditor: reads.',
      '管理员：全部权限。运维 (devops)：查看订单；处理告警、工单、证书、备份和 VPN 会话；运行策略允许的命令。服务：商城程序。审计员：只读。',
    ],
  },
  states: { enabled: ['Enabled', '已启用'], disabled: ['Disabled', '已停用'] },
  roles: {
    admin: ['Administrator', '管理员'],
    devops: ['Operations', '运维'],
    service: ['Service', '服务'],
    auditor: ['Auditor', '审计员'],
  },
  ownAccount: [
    'This is your account. Another administrator can disable or delete it.',
    '这是您自己的账户，只能由其他管理员停用或删除。',
  ],
  never: ['Never', '从未'],
  find: ['Find a user by name', '按名称查找用户'],
  create: ['Create the user', '创建用户'],
  created: [(name: string) => `The user ${name} was created.`, (name) => `已创建用户 ${name}。`],
  changeRoles: ['Change the roles', '更改角色'],
  rolesHint: ['The user has to sign in again.', '用户需要重新登录。'],
  rolesChanged: [(name: string) => `The roles of ${name} are changed.`, (name) => `已更改 ${name} 的角色。`],
  setPassword: ['Set a password', '设置密码'],
  passwordText: [
    (name: string) => `All sessions of ${name} end, and ${name} signs in with the new password.`,
    (name) => `${name} 的所有会话将结束，需用新密码登录。`,
  ],
  ownPasswordText: [
    'All your sessions end, this one too. Then sign in with the new password.',
    '您的所有会话（包括当前会话）将结束，之后请用新密码登录。',
  ],
  differs: ['It is not the same password.', '两次输入的密码不同。'],
  passwordSet: [
    'The password is set. The sessions of the user have ended.',
    '密码已设置，该用户的会话已结束。',
  ],
  disable: {
    action: ['Disable', '停用'],
    title: [(name: string) => `Disable ${name}?`, (name) => `要停用 ${name} 吗？`],
    text: [
      'All sessions of the user end, and the user cannot sign in until you enable the account.',
      '该用户的所有会话将结束，启用之前无法登录。',
    ],
    done: [(name: string) => `${name} is disabled.`, (name) => `已停用 ${name}。`],
  },
  enable: ['Enable', '启用'],
  enabledToast: [(name: string) => `${name} is enabled.`, (name) => `已启用 ${name}。`],
  remove: {
    action: ['Delete', '删除'],
    title: [(name: string) => `Delete the user ${name}?`, (name) => `要删除用户 ${name} 吗？`],
    text: [
      'This cannot be undone. Disable the user to be able to come back to it.',
      '此操作无法撤销。若以后还需要该用户，请改为停用。',
    ],
    done: ['The user is deleted.', '用户已删除。'],
  },
})

/** The words for a role. */
export function roleLabel(role: string): string {
  const { roles } = userWords()
  return role in roles ? roles[role as keyof typeof roles] : role
}
