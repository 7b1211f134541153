import { defineWords, type Translations } from '../../i18n/language.ts'

interface PageWords {
  readonly title: Translations<string>
  readonly newItem?: Translations<string>
}

/**
 * The title of each page, and of the form for a new object. The navigation has them before a page is loaded; all other
 * words of a page are loaded with it.
 */
export const PAGE_WORDS = {
  overview: { title: ['Overview', '概览'] },
  'my-work': { title: ['My work', '我的工作'] },
  'my-tokens': { title: ['My tokens', '我的令牌'] },
  orders: { title: ['Orders', '订单'], newItem: ['New order', '新建订单'] },
  payments: { title: ['Payments', '支付'] },
  reconciliations: { title: ['Reconciliations', '对账'], newItem: ['Reconcile a day', '核对某一天'] },
  messages: { title: ['Messages', '消息'] },
  alerts: { title: ['Alerts', '告警'] },
  silences: { title: ['Silences', '静默'], newItem: ['New silence', '新建静默'] },
  receivers: { title: ['Receivers', '接收方'] },
  heartbeats: { title: ['Heartbeats', '心跳'], newItem: ['New heartbeat', '新建心跳'] },
  tickets: { title: ['Tickets', '工单'], newItem: ['New ticket', '新建工单'] },
  commands: { title: ['Commands', '命令'] },
  executions: { title: ['Executions', '执行记录'] },
  'command-policy': { title: ['Command policy', '命令策略'] },
  menus: { title: ['Menus', '菜单'], newItem: ['New menu', '新建菜单'] },
  certificates: { title: ['Certificates', '证书'], newItem: ['Register a certificate', '登记证书'] },
  'data-backups': { title: ['Data backups', '数据备份'], newItem: ['New backup', '新建备份'] },
  'vpn-sessions': { title: ['VPN sessions', 'VPN 会话'] },
  'vpn-audit': { title: ['VPN audit', 'VPN 审计'] },
  audit: { title: ['Audit', '审计'] },
  telemetry: { title: ['Telemetry', '遥测'] },
  webhooks: { title: ['Webhooks', 'Webhook'], newItem: ['New webhook', '新建 Webhook'] },
  users: { title: ['Users', '用户'], newItem: ['New user', '新建用户'] },
  settings: { title: ['Settings', '设置'] },
} satisfies Readonly<Record<string, PageWords>>

const pageWords = defineWords(PAGE_WORDS)

/** What is behind `/console/` in the address of a page. */
export type PageName = keyof typeof PAGE_WORDS

export function pageTitle(name: PageName): string {
  return pageWords()[name].title
}

/** The title of the form for a new object of the page. */
export function newItemTitle(name: PageName): string {
  const words = pageWords()[name]
  return 'newItem' in words ? words.newItem : words.title
}
