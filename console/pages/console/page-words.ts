import { defineWords } from '../../i18n/language.ts'

/**
 * The title of each page, and of the form for a new object. The navigation has them before a page is loaded; all other
 * words of a page are loaded with it.
 */
export const PAGE_WORDS = {
  en: {
    overview: { title: 'Overview' },
    'my-work': { title: 'My work' },
    'my-tokens': { title: 'My tokens' },
    orders: { title: 'Orders', newItem: 'New order' },
    payments: { title: 'Payments' },
    reconciliations: { title: 'Reconciliations', newItem: 'Reconcile a day' },
    messages: { title: 'Messages' },
    alerts: { title: 'Alerts' },
    silences: { title: 'Silences', newItem: 'New silence' },
    receivers: { title: 'Receivers' },
    heartbeats: { title: 'Heartbeats', newItem: 'New heartbeat' },
    tickets: { title: 'Tickets', newItem: 'New ticket' },
    commands: { title: 'Commands' },
    executions: { title: 'Executions' },
    'command-policy': { title: 'Command policy' },
    menus: { title: 'Menus', newItem: 'New menu' },
    certificates: { title: 'Certificates', newItem: 'Register a certificate' },
    'data-backups': { title: 'Data backups', newItem: 'New backup' },
    'vpn-sessions': { title: 'VPN sessions' },
    'vpn-audit': { title: 'VPN audit' },
    audit: { title: 'Audit' },
    telemetry: { title: 'Telemetry' },
    webhooks: { title: 'Webhooks', newItem: 'New webhook' },
    users: { title: 'Users', newItem: 'New user' },
    settings: { title: 'Settings' },
  },
  zh: {
    overview: { title: '概览' },
    'my-work': { title: '我的工作' },
    'my-tokens': { title: '我的令牌' },
    orders: { title: '订单', newItem: '新建订单' },
    payments: { title: '支付' },
    reconciliations: { title: '对账', newItem: '核对某一天' },
    messages: { title: '消息' },
    alerts: { title: '告警' },
    silences: { title: '静默', newItem: '新建静默' },
    receivers: { title: '接收方' },
    heartbeats: { title: '心跳', newItem: '新建心跳' },
    tickets: { title: '工单', newItem: '新建工单' },
    commands: { title: '命令' },
    executions: { title: '执行记录' },
    'command-policy': { title: '命令策略' },
    menus: { title: '菜单', newItem: '新建菜单' },
    certificates: { title: '证书', newItem: '登记证书' },
    'data-backups': { title: '数据备份', newItem: '新建备份' },
    'vpn-sessions': { title: 'VPN 会话' },
    'vpn-audit': { title: 'VPN 审计' },
    audit: { title: '审计' },
    telemetry: { title: '遥测' },
    webhooks: { title: 'Webhook', newItem: '新建 Webhook' },
    users: { title: '用户', newItem: '新建用户' },
    settings: { title: '设置' },
  },
}

const pageWords = defineWords(PAGE_WORDS)

/** What is behind `/console/` in the address of a page. */
export type PageName = keyof typeof PAGE_WORDS.en

export function pageTitle(name: PageName): string {
  return pageWords()[name].title
}

/** The title of the form for a new object of the page. */
export function newItemTitle(name: PageName): string {
  const words = pageWords()[name]
  return 'newItem' in words ? words.newItem : words.title
}
