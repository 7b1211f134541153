import type { OperationName } from '../../api/operations.ts'
import type { IconName } from '../../parts/icons.ts'
import { lazyPage } from './lazy-page.ts'
import type { PageName } from './page-words.ts'
import type { ViewProps } from './view.ts'

/** The groups of the navigation, in their order. */
export const PAGE_GROUPS = ['shop', 'operations', 'vpn', 'administration'] as const
export type PageGroup = (typeof PAGE_GROUPS)[number]

export interface ConsolePage {
  readonly name: PageName
  /** Left out: the page is above the groups. */
  readonly group?: PageGroup
  readonly icon: IconName
  /** The page exists for users who may call it. */
  readonly operation: OperationName
  /** Typed after `g`. */
  readonly key: string
  /** Other words by which people look for it, in every language. */
  readonly keywords: string
  /** The page has a form for a new object, for users who may call this. */
  readonly newItem?: OperationName
  /** Loaded when the page is opened. It gets the part of the path behind the name as `id`. */
  readonly component: (props: ViewProps) => preact.VNode
}

/** The pages, in the order of the navigation within each group: everything that lists pages reads this list. */
export const PAGES: readonly ConsolePage[] = [
  {
    name: 'overview',
    icon: 'overview',
    operation: 'getOverview',
    key: 'w',
    keywords: 'home start dashboard status health 首页 概览 仪表盘 状态',
    component: lazyPage(async () => (await import('./overview/page.tsx')).OverviewPage),
  },
  {
    name: 'my-work',
    icon: 'inbox',
    operation: 'getOverview',
    key: 'q',
    keywords: 'mine todo assigned approvals acknowledged tasks 我的 待办 任务 审批',
    component: lazyPage(async () => (await import('./my-work/page.tsx')).MyWorkPage),
  },
  {
    name: 'my-tokens',
    icon: 'user',
    operation: 'listApiTokens',
    key: 'j',
    keywords: 'api keys programs access scripts mine 我的 令牌 密钥 程序',
    component: lazyPage(async () => (await import('./my-tokens/page.tsx')).MyTokensPage),
  },
  {
    name: 'orders',
    group: 'shop',
    icon: 'orders',
    operation: 'listOrders',
    key: 'o',
    keywords: 'sales purchases payments shop 订单 销售 付款',
    newItem: 'createOrder',
    component: lazyPage(async () => (await import('./orders/page.tsx')).OrdersPage),
  },
  {
    name: 'payments',
    group: 'shop',
    icon: 'payments',
    operation: 'listPayments',
    key: 'y',
    keywords: 'money paid refunds stripe wechat alipay 支付 付款 退款 收款 微信 支付宝',
    component: lazyPage(async () => (await import('./payments/page.tsx')).PaymentsPage),
  },
  {
    name: 'reconciliations',
    group: 'shop',
    icon: 'reconciliations',
    operation: 'listReconciliations',
    key: 'l',
    keywords: 'books bills differences payments days 对账 账单 差异',
    newItem: 'reconcilePayments',
    component: lazyPage(async () => (await import('./reconciliations/page.tsx')).ReconciliationsPage),
  },
  {
    name: 'messages',
    group: 'operations',
    icon: 'messages',
    operation: 'listMessages',
    key: 'm',
    keywords: 'events queue outbox bus nats dead letters 消息 事件 队列 死信',
    component: lazyPage(async () => (await import('./messages/page.tsx')).MessagesPage),
  },
  {
    name: 'alerts',
    group: 'operations',
    icon: 'alerts',
    operation: 'listAlerts',
    key: 'a',
    keywords: 'alarms incidents warnings notifications robot 告警 报警 通知',
    component: lazyPage(async () => (await import('./alerts/page.tsx')).AlertsPage),
  },
  {
    name: 'silences',
    group: 'operations',
    icon: 'mute',
    operation: 'listSilences',
    key: 's',
    keywords: 'mute muted snooze quiet maintenance alerts 静默 屏蔽 维护',
    newItem: 'createSilence',
    component: lazyPage(async () => (await import('./silences/page.tsx')).SilencesPage),
  },
  {
    name: 'receivers',
    group: 'operations',
    icon: 'receivers',
    operation: 'listReceivers',
    key: 'r',
    keywords: 'notifications mail chat robot pager webhook on call test 接收方 通知 邮件 值班 测试',
    component: lazyPage(async () => (await import('./receivers/page.tsx')).ReceiversPage),
  },
  {
    name: 'heartbeats',
    group: 'operations',
    icon: 'heart',
    operation: 'listHeartbeats',
    key: 'h',
    keywords: 'beats cron jobs dead man switch missed monitor 心跳 定时任务 监控',
    newItem: 'putHeartbeat',
    component: lazyPage(async () => (await import('./heartbeats/page.tsx')).HeartbeatsPage),
  },
  {
    name: 'tickets',
    group: 'operations',
    icon: 'tickets',
    operation: 'listTickets',
    key: 't',
    keywords: 'issues tasks todo board comments support 工单 任务 看板',
    newItem: 'createTicket',
    component: lazyPage(async () => (await import('./tickets/page.tsx')).TicketsPage),
  },
  {
    name: 'commands',
    group: 'operations',
    icon: 'commands',
    operation: 'listCommands',
    key: 'c',
    keywords: 'run execute scripts actions jobs 命令 运行 脚本',
    component: lazyPage(async () => (await import('./commands/page.tsx')).CommandsPage),
  },
  {
    name: 'executions',
    group: 'operations',
    icon: 'executions',
    operation: 'listExecutions',
    key: 'x',
    keywords: 'runs history output approvals approve reject jobs 执行 运行记录 审批 批准 输出',
    component: lazyPage(async () => (await import('./executions/page.tsx')).ExecutionsPage),
  },
  {
    name: 'command-policy',
    group: 'administration',
    icon: 'policy',
    operation: 'getCommandPolicy',
    key: 'p',
    keywords: 'rules permissions roles approvers allowed commands who 策略 规则 权限 审批人 命令',
    component: lazyPage(async () => (await import('./command-policy/page.tsx')).CommandPolicyPage),
  },
  {
    name: 'menus',
    group: 'shop',
    icon: 'menus',
    operation: 'getMenus',
    key: 'n',
    keywords: 'navigation tree categories shop 菜单 导航 分类',
    newItem: 'editMenus',
    component: lazyPage(async () => (await import('./menus/page.tsx')).MenusPage),
  },
  {
    name: 'certificates',
    group: 'administration',
    icon: 'certificates',
    operation: 'listCertificates',
    key: 'k',
    keywords: 'tls ssl https pem expiry 证书 到期',
    newItem: 'registerCertificate',
    component: lazyPage(async () => (await import('./certificates/page.tsx')).CertificatesPage),
  },
  {
    name: 'data-backups',
    group: 'administration',
    icon: 'dataBackups',
    operation: 'listDataBackups',
    key: 'b',
    keywords: 'snapshots restore export database copy 数据备份 恢复 快照',
    newItem: 'createDataBackup',
    component: lazyPage(async () => (await import('./data-backups/page.tsx')).DataBackupsPage),
  },
  {
    name: 'vpn-sessions',
    group: 'vpn',
    icon: 'tunnels',
    operation: 'listVpnSessions',
    key: 'v',
    keywords: 'tunnels gateway connections clients online pool addresses 隧道 网关 连接 在线',
    component: lazyPage(async () => (await import('./vpn-sessions/page.tsx')).VpnSessionsPage),
  },
  {
    name: 'vpn-audit',
    group: 'vpn',
    icon: 'audit',
    operation: 'listVpnAudit',
    key: 'i',
    keywords: 'log trail sign-ins logins refused denied tunnels 审计 日志 登录 拒绝',
    component: lazyPage(async () => (await import('./vpn-audit/page.tsx')).VpnAuditPage),
  },
  {
    name: 'audit',
    group: 'administration',
    icon: 'audit',
    operation: 'listAudit',
    key: 'd',
    keywords: 'log trail changes who history sign-ins refused 审计 日志 更改 历史 登录',
    component: lazyPage(async () => (await import('./audit/page.tsx')).AuditTrailPage),
  },
  {
    name: 'telemetry',
    group: 'operations',
    icon: 'telemetry',
    operation: 'listTelemetryAgents',
    key: 'e',
    keywords: 'agents sensors measurements metrics values devices 遥测 代理 传感器 指标',
    component: lazyPage(async () => (await import('./telemetry/page.tsx')).TelemetryPage),
  },
  {
    name: 'webhooks',
    group: 'administration',
    icon: 'webhook',
    operation: 'listWebhooks',
    key: 'z',
    keywords: 'hooks endpoints deliveries events integrations callbacks 回调 推送 投递',
    newItem: 'createWebhook',
    component: lazyPage(async () => (await import('./webhooks/page.tsx')).WebhooksPage),
  },
  {
    name: 'users',
    group: 'administration',
    icon: 'users',
    operation: 'listUsers',
    key: 'u',
    keywords: 'accounts people roles passwords permissions admin 用户 账户 角色 密码 权限',
    newItem: 'createUser',
    component: lazyPage(async () => (await import('./users/page.tsx')).UsersPage),
  },
  {
    name: 'settings',
    group: 'administration',
    icon: 'settings',
    operation: 'getConfig',
    key: ',',
    keywords: 'configuration config environment options secrets 设置 配置 环境变量',
    component: lazyPage(async () => (await import('./settings/page.tsx')).SettingsPage),
  },
]
