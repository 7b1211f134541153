import { defineWords } from '../../i18n/language.ts'
import type { PageName } from './page-words.ts'

/** A page with filters that people look for often. */
export interface SavedView {
  readonly page: PageName
  readonly title: () => string
  /** The filters; the id of the user stands for `me`. */
  readonly query: Readonly<Record<string, string>>
  readonly keywords: string
}

/** Stands for the id of the user in a query. */
export const ME = 'me'

const savedViewWords = defineWords({
  pendingOrders: ['Orders that wait for payment', '等待付款的订单'],
  expiredOrders: ['Expired orders', '已过期的订单'],
  attentionPayments: ['Payments that need a person', '需要人工处理的支付'],
  waitingMessages: ['Waiting messages', '等待中的消息'],
  deadMessages: ['Dead messages', '死信消息'],
  firingAlerts: ['Firing alerts', '触发中的告警'],
  criticalAlerts: ['Critical alerts', '严重告警'],
  activeSilences: ['Active silences', '生效中的静默'],
  openTickets: ['Open tickets', '待处理的工单'],
  myTickets: ['My tickets', '我的工单'],
  mentions: ['Tickets that mention me', '提到我的工单'],
  ticketBoard: ['Board of the tickets', '工单看板'],
  approvals: ['Executions that wait for approval', '等待审批的执行'],
  failedExecutions: ['Failed executions', '失败的执行'],
  runningExecutions: ['Running executions', '运行中的执行'],
  endingCertificates: ['Certificates that end soon', '即将到期的证书'],
  expiredCertificates: ['Expired certificates', '已过期的证书'],
  closedSessions: ['Closed VPN sessions', '已关闭的 VPN 会话'],
  refusedConnections: ['Refused VPN connections', '被拒绝的 VPN 连接'],
})

type ViewWord = keyof ReturnType<typeof savedViewWords>

function view(word: ViewWord, page: PageName, query: SavedView['query'], keywords: string): SavedView {
  return { page, title: () => savedViewWords()[word], query, keywords }
}

/** The views that the command palette offers beside the pages. */
export const SAVED_VIEWS: readonly SavedView[] = [
  view('pendingOrders', 'orders', { status: 'pending' }, 'pending unpaid open orders 待付款 未付款 订单'),
  view('expiredOrders', 'orders', { status: 'expired' }, 'timed out overdue orders 超时 过期 订单'),
  view(
    'attentionPayments',
    'payments',
    { attention: 'any' },
    'late twice duplicate refund problems 支付 重复 退款 处理',
  ),
  view('waitingMessages', 'messages', { status: 'pending' }, 'pending queue outbox events 待发送 消息 队列'),
  view('deadMessages', 'messages', { status: 'dead' }, 'dead letters failed redrive resend 死信 失败 重发'),
  view('firingAlerts', 'alerts', { status: 'firing' }, 'active alarms incidents problems 告警 报警 故障'),
  view('criticalAlerts', 'alerts', { level: 'CRITICAL' }, 'severe urgent alarms 严重 紧急 告警'),
  view('activeSilences', 'silences', { state: 'active' }, 'muted snoozed maintenance 静默 屏蔽 维护'),
  view('openTickets', 'tickets', { status: 'open' }, 'todo new issues 待处理 工单'),
  view('myTickets', 'tickets', { assignee: ME }, 'assigned to me 分配给我 我的 工单'),
  view('mentions', 'tickets', { mentioned: ME }, 'comments names mentioned at 提到 评论 @'),
  view('ticketBoard', 'tickets', { view: 'board' }, 'kanban columns drag 看板 工单'),
  view(
    'approvals',
    'executions',
    { status: 'awaiting_approval' },
    'approvals approve requests pending two-person commands 审批 批准 待审批 命令',
  ),
  view('failedExecutions', 'executions', { status: 'failed' }, 'runs commands errors 失败 命令 运行'),
  view('runningExecutions', 'executions', { status: 'running' }, 'runs commands output 运行中 命令'),
  view(
    'endingCertificates',
    'certificates',
    { status: 'expiring' },
    'expiring tls ssl https renew 到期 证书 续期',
  ),
  view('expiredCertificates', 'certificates', { status: 'expired' }, 'ended tls ssl https 过期 证书'),
  view('closedSessions', 'vpn-sessions', { state: 'closed' }, 'ended disconnected tunnels 断开 关闭 会话'),
  view(
    'refusedConnections',
    'vpn-audit',
    { event: 'auth_failed' },
    'failed sign-ins logins denied intrusions 拒绝 登录失败 审计',
  ),
]
