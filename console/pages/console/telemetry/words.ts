import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const telemetryWords = defineWords({
  ...PAGE_WORDS.telemetry,
  list: ['List of agents', '代理程序列表'],
  empty: ['No agent has sent telemetry yet.', '还没有代理程序发送过遥测数据。'],
  how: {
    text: [
      'An agent sends its values with a token of the role service:',
      '代理程序使用角色为 service 的令牌发送数据：',
    ],
    command: sameInBoth(
      `curl $URL/api/v1/telemetry -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' -d '{"agent_id":"press-7","data":{"temperature":21.5}}'`,
    ),
  },
  fields: {
    agent_id: ['Agent', '代理程序'],
    items: ['Items', '数据条数'],
    first_at: ['First item', '首条数据'],
    last_at: ['Last item', '最近数据'],
    measured_at: ['Measured', '测量时间'],
  },
  silent: ['Silent', '无数据'],
  values: ['Last values', '最近的值'],
  noValues: ['The last item has no values.', '最近的数据没有值。'],
})
