import { defineWords } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const receiverWords = defineWords({
  en: {
    ...PAGE_WORDS.en.receivers,
    list: 'Receivers of alerts',
    about:
      'Who gets messages about alerts. They are set up in the configuration ([receivers.…] and [[alerts.routes]]).',
    empty: 'No receiver is set up.',
    how: {
      text: 'Receivers are tables [receivers.NAME] of the configuration. This sends a test message to one:',
      command: 'platform alerts test NAME',
    },
    fields: {
      name: 'Receiver',
      kind: 'Kind',
      state: 'State',
      pending: 'Waiting',
      last_success_at: 'Last success',
      last_error: 'Last failure',
    },
    states: { ok: 'Works', failing: 'Fails' },
    test: 'Send a test',
    testOf: (name: string) => `Send a test to ${name}`,
    delivered: (name: string) => `${name} has taken the test message.`,
    notDelivered: (name: string, answer: string) => `${name} has not taken the test message: ${answer}`,
  },
  zh: {
    ...PAGE_WORDS.zh.receivers,
    list: '告警接收方列表',
    about: '接收告警消息的对象，在配置文件 ([receivers.…] 与 [[alerts.routes]]) 中设置。',
    empty: '未设置任何接收方。',
    how: {
      text: '接收方是配置中的 [receivers.NAME] 表。以下命令向其发送测试消息：',
      command: 'platform alerts test NAME',
    },
    fields: {
      name: '接收方',
      kind: '类型',
      state: '状态',
      pending: '等待发送',
      last_success_at: '最近成功',
      last_error: '最近失败',
    },
    states: { ok: '正常', failing: '失败' },
    test: '发送测试消息',
    testOf: (name) => `向 ${name} 发送测试消息`,
    delivered: (name) => `${name} 已接收测试消息。`,
    notDelivered: (name, answer) => `${name} 未接收测试消息：${answer}`,
  },
})
