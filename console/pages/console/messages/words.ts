import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const messageWords = defineWords({
  ...PAGE_WORDS.messages,
  list: ['List of messages', '消息列表'],
  empty: [
    'There are no messages yet. Each change of an object is a message to the bus.',
    '还没有消息。对象的每次更改都会向总线发送一条消息。',
  ],
  how: {
    text: ['A program can also publish one:', '程序也可以发布消息：'],
    command: sameInBoth(
      `curl $URL/messages/publish -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' -d '{"subject":"shop.note","payload":{"text":"hello"}}'`,
    ),
  },
  noMatch: ['No message matches the filters.', '没有符合筛选条件的消息。'],
  fields: {
    id: ['Id', '标识'],
    subject: ['Subject', '主题'],
    status: ['Status', '状态'],
    attempts: ['Attempts', '发送次数'],
    reason: ['What is wrong', '问题'],
    last_error: ['Last error', '最近的错误'],
    created_at: ['Created', '创建时间'],
    delivered_at: ['Delivered', '送达时间'],
  },
  statuses: { pending: ['Waiting', '等待中'], delivered: ['Delivered', '已送达'], dead: ['Dead', '死信'] },
  payload: ['Payload', '内容'],
  redrive: ['Send again', '重新发送'],
  redriven: ['The message waits for the bus again.', '消息已重新等待发送。'],
  died: [
    'The bus has refused the message again: it is dead. Remove the cause before you send it again.',
    '总线再次拒绝了此消息，它已成为死信。请先消除原因再重新发送。',
  ],
  alert: ['The alert about this message', '关于此消息的告警'],
  reasons: {
    too_large: [
      'The message is larger than the bus accepts. Raise max_payload of the server or the limit of the stream, or publish smaller messages.',
      '消息超过总线允许的大小。请提高服务器的 max_payload 或流的限制，或发布更小的消息。',
    ],
    headers_too_large: [
      'The headers of the message are larger than the bus accepts.',
      '消息头超过总线允许的大小。',
    ],
    not_permitted: [
      'The bus does not allow the platform to publish on this subject. Change the permissions of its user.',
      '总线不允许平台在此主题上发布消息。请更改其用户的权限。',
    ],
    no_stream: ['No stream of the bus takes messages on this subject.', '总线没有接收此主题的流。'],
    bad_subject: ['The bus does not accept this subject.', '总线不接受此主题。'],
  },
})
