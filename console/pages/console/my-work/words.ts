import { defineWords } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const myWorkWords = defineWords({
  ...PAGE_WORDS['my-work'],
  tickets: ['My tickets', '我的工单'],
  noTickets: [
    'No open ticket is assigned to you. Take one on its page with “Assign to me”.',
    '没有分配给您的待处理工单。可在工单页面点击“分配给我”。',
  ],
  mentions: ['Tickets that mention me', '提到我的工单'],
  noMentions: ['No open ticket has a comment with @ and your name.', '没有未关闭的工单在评论中用 @ 提到您。'],
  newComments: ['New comments', '有新评论'],
  requests: ['Requests that wait for my decision', '等待我审批的请求'],
  noRequests: ['No command waits for your approval.', '没有等待您审批的命令。'],
  alerts: ['Alerts that I have acknowledged', '我确认的告警'],
  noAlerts: ['You have acknowledged no alert that still fires.', '没有由您确认且仍在触发的告警。'],
  requestedBy: [(name: string) => `requested by ${name}`, (name) => `请求者：${name}`],
})
