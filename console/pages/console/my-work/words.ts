import { defineWords } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const myWorkWords = defineWords({
  en: {
    ...PAGE_WORDS.en['my-work'],
    tickets: 'My tickets',
    noTickets: 'No open ticket is assigned to you. Take one on its page with “Assign to me”.',
    mentions: 'Tickets that mention me',
    noMentions: 'No open ticket has a comment with @ and your name.',
    newComments: 'New comments',
    requests: 'Requests that wait for my decision',
    noRequests: 'No command waits for your approval.',
    alerts: 'Alerts that I have acknowledged',
    noAlerts: 'You have acknowledged no alert that still fires.',
    requestedBy: (name: string) => `requested by ${name}`,
  },
  zh: {
    ...PAGE_WORDS.zh['my-work'],
    tickets: '我的工单',
    noTickets: '没有分配给您的待处理工单。可在工单页面点击“分配给我”。',
    mentions: '提到我的工单',
    noMentions: '没有未关闭的工单在评论中用 @ 提到您。',
    newComments: '有新评论',
    requests: '等待我审批的请求',
    noRequests: '没有等待您审批的命令。',
    alerts: '我确认的告警',
    noAlerts: '没有由您确认且仍在触发的告警。',
    requestedBy: (name) => `请求者：${name}`,
  },
})
