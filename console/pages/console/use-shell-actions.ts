import type { Signal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { language, LANGUAGE_NAMES, LANGUAGES, defineWords } from '../../i18n/language.ts'
import { useActions, type Action } from '../../parts/actions/actions.ts'
import { addressOf } from '../../parts/list/list-query.ts'
import { newItemAddress } from '../../parts/list/new-item.tsx'
import { chooseLanguage, chooseTheme, theme, THEMES } from '../../parts/preferences.ts'
import { topBarWords } from '../../parts/top-bar-words.ts'
import type { ConsolePage } from './pages.ts'
import { session } from './platform.ts'
import { shellWords } from './shell-words.ts'
import { signOut } from './sign-out.ts'
import { isPathOf, pathOf } from './view.ts'

/** What may be in front of the page. */
export type Overlay = 'palette' | 'keys' | 'menu'

/** The actions that every page has. */
export function useShellActions(pages: readonly ConsolePage[], overlay: Signal<Overlay | null>): void {
  const { path, route } = useLocation()
  useActions(() => {
    const words = shellWords()
    const { themes, signOut: signOutTitle } = topBarWords()
    return [
      ...pages.map((page) => ({
        title: words.goTo(page.title()),
        keywords: page.keywords,
        keys: `g ${page.key}`,
        run: () => route(pathOf(page)),
      })),
      ...viewActions(pages, route),
      // The open page has its own action.
      ...newItemActions(
        pages.filter((page) => !isPathOf(page, path)),
        route,
      ),
      { title: words.openPalette, keys: 'Ctrl-k', isKeyOnly: true, run: () => (overlay.value = 'palette') },
      { title: words.showKeys, keys: '?', run: () => (overlay.value = 'keys') },
      ...LANGUAGES.filter((each) => each !== language.value).map((each) => ({
        title: words.switchLanguage(LANGUAGE_NAMES[each]),
        run: () => chooseLanguage(each),
      })),
      ...THEMES.filter((each) => each !== theme.value).map((each) => ({
        title: words.useTheme(themes[each]),
        run: () => chooseTheme(each),
      })),
      { title: signOutTitle, run: () => void signOut() },
    ]
  })
}

function newItemActions(pages: readonly ConsolePage[], route: (address: string) => void): readonly Action[] {
  return pages.flatMap((page) => {
    const { newItem } = page
    if (!newItem || !session.may(newItem.operation)) return []
    return [{ title: newItem.title(), run: () => route(newItemAddress(pathOf(page))) }]
  })
}

/** The views of the pages that the user may open. */
function viewActions(pages: readonly ConsolePage[], route: (address: string) => void): readonly Action[] {
  const names = new Set(pages.map(({ name }) => name))
  const me = session.bearer.value?.id ?? ''
  return SAVED_VIEWS.filter(({ page }) => names.has(page)).map(({ page, title, query, keywords }) => {
    const filled = Object.entries(query).map(([name, value]) => [name, value === ME ? me : value])
    const address = addressOf(pathOf({ name: page }), Object.fromEntries(filled))
    return { title: title(), keywords, run: () => route(address) }
  })
}

/** A page with filters that people look for often. */
interface SavedView {
  /** The name of the page. */
  readonly page: string
  readonly title: () => string
  /** The filters; the id of the user stands for `me`. */
  readonly query: Readonly<Record<string, string>>
  readonly keywords: string
}

/** Stands for the id of the user in a query. */
const ME = 'me'

const savedViewWords = defineWords({
  en: {
    pendingOrders: 'Orders that wait for payment',
    expiredOrders: 'Expired orders',
    waitingMessages: 'Waiting messages',
    deadMessages: 'Dead messages',
    firingAlerts: 'Firing alerts',
    criticalAlerts: 'Critical alerts',
    activeSilences: 'Active silences',
    openTickets: 'Open tickets',
    myTickets: 'My tickets',
    ticketBoard: 'Board of the tickets',
    approvals: 'Executions that wait for approval',
    failedExecutions: 'Failed executions',
    runningExecutions: 'Running executions',
    endingCertificates: 'Certificates that end soon',
    expiredCertificates: 'Expired certificates',
    closedSessions: 'Closed VPN sessions',
    refusedConnections: 'Refused VPN connections',
  },
  zh: {
    pendingOrders: '等待付款的订单',
    expiredOrders: '已过期的订单',
    waitingMessages: '等待中的消息',
    deadMessages: '死信消息',
    firingAlerts: '触发中的告警',
    criticalAlerts: '严重告警',
    activeSilences: '生效中的静默',
    openTickets: '待处理的工单',
    myTickets: '我的工单',
    ticketBoard: '工单看板',
    approvals: '等待审批的执行',
    failedExecutions: '失败的执行',
    runningExecutions: '运行中的执行',
    endingCertificates: '即将到期的证书',
    expiredCertificates: '已过期的证书',
    closedSessions: '已关闭的 VPN 会话',
    refusedConnections: '被拒绝的 VPN 连接',
  },
})

type ViewWord = keyof ReturnType<typeof savedViewWords>

function view(word: ViewWord, page: string, query: SavedView['query'], keywords: string): SavedView {
  return { page, title: () => savedViewWords()[word], query, keywords }
}

/** The views that the command palette offers beside the pages. */
const SAVED_VIEWS: readonly SavedView[] = [
  view('pendingOrders', 'orders', { status: 'pending' }, 'pending unpaid open orders 待付款 未付款 订单'),
  view('expiredOrders', 'orders', { status: 'expired' }, 'timed out overdue orders 超时 过期 订单'),
  view('waitingMessages', 'messages', { status: 'pending' }, 'pending queue outbox events 待发送 消息 队列'),
  view('deadMessages', 'messages', { status: 'dead' }, 'dead letters failed redrive resend 死信 失败 重发'),
  view('firingAlerts', 'alerts', { status: 'firing' }, 'active alarms incidents problems 告警 报警 故障'),
  view('criticalAlerts', 'alerts', { level: 'CRITICAL' }, 'severe urgent alarms 严重 紧急 告警'),
  view('activeSilences', 'silences', { state: 'active' }, 'muted snoozed maintenance 静默 屏蔽 维护'),
  view('openTickets', 'tickets', { status: 'open' }, 'todo new issues 待处理 工单'),
  view('myTickets', 'tickets', { assignee: ME }, 'assigned to me 分配给我 我的 工单'),
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
