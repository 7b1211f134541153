import { defineWords } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const messageWords = defineWords({
  en: {
    ...PAGE_WORDS.en.messages,
    list: 'List of messages',
    empty: 'There are no messages yet. Each change of an object is a message to the bus.',
    how: {
      text: 'A program can also publish one:',
      command: `curl $URL/messages/publish -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' -d '{"subject":"shop.note","payload":{"text":"hello"}}'`,
    },
    noMatch: 'No message matches the filters.',
    fields: {
      id: 'Id',
      subject: 'Subject',
      status: 'Status',
      attempts: 'Attempts',
      reason: 'What is wrong',
      last_error: 'Last error',
      created_at: 'Created',
      delivered_at: 'Delivered',
    },
    statuses: { pending: 'Waiting', delivered: 'Delivered', dead: 'Dead' },
    payload: 'Payload',
    redrive: 'Send again',
    redriven: 'The message waits for the bus again.',
    died: 'The bus has refused the message again: it is dead. Remove the cause before you send it again.',
    alert: 'The alert about this message',
    reasons: {
      too_large:
        'The message is larger than the bus accepts. Raise max_payload of the server or the limit of the stream, or publish smaller messages.',
      headers_too_large: 'The headers of the message are larger than the bus accepts.',
      not_permitted:
        'The bus does not allow the platform to publish on this subject. Change the permissions of its user.',
      no_stream: 'No stream of the bus takes messages on this subject.',
      bad_subject: 'The bus does not accept this subject.',
    },
  },
  zh: {
    ...PAGE_WORDS.zh.messages,
    list: '消息列表',
    empty: '还没有消息。对象的每次更改都会向总线发送一条消息。',
    how: {
      text: '程序也可以发布消息：',
      command: `curl $URL/messages/publish -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' -d '{"subject":"shop.note","payload":{"text":"hello"}}'`,
    },
    noMatch: '没有符合筛选条件的消息。',
    fields: {
      id: '标识',
      subject: '主题',
      status: '状态',
      attempts: '发送次数',
      reason: '问题',
      last_error: '最近的错误',
      created_at: '创建时间',
      delivered_at: '送达时间',
    },
    statuses: { pending: '等待中', delivered: '已送达', dead: '死信' },
    payload: '内容',
    redrive: '重新发送',
    redriven: '消息已重新等待发送。',
    died: '总线再次拒绝了此消息，它已成为死信。请先消除原因再重新发送。',
    alert: '关于此消息的告警',
    reasons: {
      too_large: '消息超过总线允许的大小。请提高服务器的 max_payload 或流的限制，或发布更小的消息。',
      headers_too_large: '消息头超过总线允许的大小。',
      not_permitted: '总线不允许平台在此主题上发布消息。请更改其用户的权限。',
      no_stream: '总线没有接收此主题的流。',
      bad_subject: '总线不接受此主题。',
    },
  },
})
