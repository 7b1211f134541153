import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const receiverWords = defineWords({
  ...PAGE_WORDS.receivers,
  list: ['Receivers of alerts', '告警接收方列表'],
  about: [
    'Who gets messages about alerts. They are set up in the configuration ([receivers.…] and [[alerts.routes]]).',
    '接收告警消息的对象，在配置文件 ([receivers.…] 与 [[alerts.routes]]) 中设置。',
  ],
  empty: ['No receiver is set up.', '未设置任何接收方。'],
  how: {
    text: [
      'Receivers are tables [receivers.NAME] of the configuration. This sends a test message to one:',
      '接收方是配置中的 [receivers.NAME] 表。以下命令向其发送测试消息：',
    ],
    command: sameInBoth('platform alerts test NAME'),
  },
  fields: {
    name: ['Receiver', '接收方'],
    kind: ['Kind', '类型'],
    state: ['State', '状态'],
    pending: ['Waiting', '等待发送'],
    last_success_at: ['Last success', '最近成功'],
    last_error: ['Last failure', '最近失败'],
  },
  states: { ok: ['Works', '正常'], failing: ['Fails', '失败'], unused: ['Not used yet', '尚未使用'] },
  test: ['Send a test', '发送测试消息'],
  testOf: [(name: string) => `Send a test to ${name}`, (name) => `向 ${name} 发送测试消息`],
  delivered: [(name: string) => `${name} has taken the test message.`, (name) => `${name} 已接收测试消息。`],
  notDelivered: [
    (name: string, answer: string) => `${name} has not taken the test message: ${answer}`,
    (name, answer) => `${name} 未接收测试消息：${answer}`,
  ],
  routes: {
    title: ['Routes', '路由'],
    about: [
      'The first route that matches an alert decides which receivers get it; the default comes last.',
      '第一条匹配告警的路由决定通知谁；最后是默认路由。',
    ],
    question: ['Where would this alert go?', '此告警会通知谁？'],
    ask: ['Show where it goes', '查看通知对象'],
    answerTitle: ['Where the alert would go now', '此告警现在会通知'],
    goes: ['notified at once', '立即通知'],
    matched: ['(this alert)', '（此告警）'],
    defaultRoute: ['Default', '默认'],
    everyAlert: ['every alert', '所有告警'],
    nobody: ['nobody', '无人'],
    from: [(severity: string) => `from ${severity} on`, (severity) => `“${severity}”及以上`],
    atOnce: ['at once', '立即'],
    after: [(time: string) => `after ${time} without an acknowledgement`, (time) => `${time}内无人确认后`],
    repeated: [
      (time: string) => `again every ${time} while it fires`,
      (time) => `持续告警时每${time}再次通知`,
    ],
    goesOn: ['the next route that matches decides, too', '下一条匹配的路由也会生效'],
  },
})
