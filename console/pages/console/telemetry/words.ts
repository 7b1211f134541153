import { defineWords } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const telemetryWords = defineWords({
  en: {
    ...PAGE_WORDS.en.telemetry,
    list: 'List of agents',
    empty: 'No agent has sent telemetry yet.',
    how: {
      text: 'An agent sends its values with a token of the role service:',
      command: `curl $URL/api/v1/telemetry -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' -d '{"agent_id":"press-7","data":{"temperature":21.5}}'`,
    },
    noMatch: '',
    fields: {
      agent_id: 'Agent',
      items: 'Items',
      first_at: 'First item',
      last_at: 'Last item',
      measured_at: 'Measured',
    },
    silent: 'Silent',
    values: 'Last values',
    noValues: 'The last item has no values.',
  },
  zh: {
    ...PAGE_WORDS.zh.telemetry,
    list: '代理程序列表',
    empty: '还没有代理程序发送过遥测数据。',
    how: {
      text: '代理程序使用角色为 service 的令牌发送数据：',
      command: `curl $URL/api/v1/telemetry -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' -d '{"agent_id":"press-7","data":{"temperature":21.5}}'`,
    },
    noMatch: '',
    fields: {
      agent_id: '代理程序',
      items: '数据条数',
      first_at: '首条数据',
      last_at: '最近数据',
      measured_at: '测量时间',
    },
    silent: '无数据',
    values: '最近的值',
    noValues: '最近的数据没有值。',
  },
})
