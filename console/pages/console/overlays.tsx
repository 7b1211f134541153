import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso/router'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { defineWords } from '../../i18n/language.ts'
import { localNumber } from '../../i18n/local.ts'
import { availableActions, type Action } from '../../parts/actions/actions.ts'
import { KeyHelp } from '../../parts/actions/keys.tsx'
import { Palette } from '../../parts/actions/palette.tsx'
import { Button } from '../../parts/button.tsx'
import { addressOf } from '../../parts/list/list-query.ts'
import { Modal } from '../../parts/modal.tsx'
import type { PageName } from './page-words.ts'
import type { ConsolePage } from './pages.ts'
import { session } from './platform.ts'
import { shellWords } from './shell-words.ts'
import { suggestCommands, suggestObjects, suggestSearches } from './suggestions.ts'
import { pathOf } from './view.ts'

export interface OverlayProps {
  readonly overlay: 'palette' | 'keys' | 'tour'
  /** The pages that the user may open. */
  readonly pages: readonly ConsolePage[]
  readonly onClose: () => void
}

/** The palette, the help for the keys, or the tour, in front of the page; loaded when first needed. */
export function OverlayInFront({ overlay, pages, onClose }: OverlayProps) {
  switch (overlay) {
    case 'palette':
      return <ConsolePalette pages={pages} onClose={onClose} />
    case 'keys':
      return <KeyHelp onClose={onClose} />
    case 'tour':
      return <Tour onClose={onClose} />
  }
}

function ConsolePalette({ pages, onClose }: Omit<OverlayProps, 'overlay'>) {
  const { route } = useLocation()
  return (
    <Palette
      actions={() => [...availableActions(), ...viewActions(pages, route)]}
      suggest={(text) => [
        ...suggestObjects(text, route),
        ...suggestCommands(text, route),
        ...suggestSearches(text, route),
      ]}
      none={shellWords().nothingFound}
      onClose={onClose}
    />
  )
}

/** The views of the pages that the user may open. */
function viewActions(pages: readonly ConsolePage[], route: (address: string) => void): readonly Action[] {
  const names = new Set(pages.map(({ name }) => name))
  const me = session.bearer.value?.id ?? ''
  return SAVED_VIEWS.filter(({ page }) => names.has(page)).map(({ page, title, query, keywords }) => {
    const filled = Object.entries(query).map(([name, value]) => [name, value === ME ? me : value])
    const address = addressOf(pathOf(page), Object.fromEntries(filled))
    return { title: title(), keywords, run: () => route(address) }
  })
}

const tourWords = defineWords({
  title: ['A tour of the console', '控制台导览'],
  steps: [
    [
      [
        'What to look at first',
        'The overview begins with what needs a person, and shows the state of every part.',
      ],
      [
        'Find your way',
        'The pages are in four groups that fold. Ctrl K finds pages, actions and objects by their ids.',
      ],
      [
        'Lists',
        'j and k move through the rows, Enter opens one, / searches. The address keeps filters: send it to others.',
      ],
      [
        'Alerts',
        'The most severe ones are first. Acknowledge one that you work on, or silence it in two clicks.',
      ],
      [
        'As you like it',
        'Language and colours are at the top right. ? shows all keys. The browser can notify you of alerts.',
      ],
    ],
    [
      ['首先查看', '概览首先列出需要人工处理的事项，并显示各部分的状态。'],
      ['查找', '页面分为四组，可以折叠。按 Ctrl K 可查找页面、操作，以及按编号查找对象。'],
      ['列表', '按 j 和 k 在行间移动，回车打开，/ 搜索。地址保存筛选条件，可以发给他人。'],
      ['告警', '最严重的排在最前。正在处理的告警请确认，或两次点击即可静默。'],
      ['个性化', '右上角可选择语言和颜色。按 ? 显示所有快捷键。浏览器可以通知您告警。'],
    ],
  ],
  place: [(step: string, all: string) => `${step} of ${all}`, (step, all) => `第 ${step} 步，共 ${all} 步`],
  back: ['Back', '上一步'],
  next: ['Next', '下一步'],
  skip: ['Skip', '跳过'],
  done: ['Begin', '开始使用'],
})

/** Shows in five steps what the console has; each step marks a part of the page. */
function Tour({ onClose }: { readonly onClose: () => void }) {
  const words = tourWords()
  const step = useSignal(0)
  const forward = useRef<HTMLButtonElement>(null)
  const { steps } = words
  const [title = '', text = ''] = steps[step.value] ?? []
  const isLast = step.value === steps.length - 1
  useLayoutEffect(() => {
    document.documentElement.dataset['tour'] = String(step.value)
    forward.current?.focus()
    return () => delete document.documentElement.dataset['tour']
  }, [step.value])
  return (
    <Modal label={words.title} kind="tour" onClose={onClose}>
      <h2 class="modal-title">{title}</h2>
      <p role="status">{text}</p>
      <div class="actions actions-end">
        <span class="muted tour-place">
          {words.place(localNumber(step.value + 1), localNumber(steps.length))}
        </span>
        {!isLast && (
          <Button kind="quiet" onClick={onClose}>
            {words.skip}
          </Button>
        )}
        {step.value > 0 && <Button onClick={() => (step.value -= 1)}>{words.back}</Button>}
        <button
          class="button button-main"
          type="button"
          ref={forward}
          onClick={() => (isLast ? onClose() : (step.value += 1))}
        >
          {isLast ? words.done : words.next}
        </button>
      </div>
    </Modal>
  )
}

/** A page with filters that people look for often. */
interface SavedView {
  readonly page: PageName
  readonly title: () => string
  /** The filters; the id of the user stands for `me`. */
  readonly query: Readonly<Record<string, string>>
  readonly keywords: string
}

/** Stands for the id of the user in a query. */
const ME = 'me'

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
const SAVED_VIEWS: readonly SavedView[] = [
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
