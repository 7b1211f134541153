import { defineWords } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const silenceWords = defineWords({
  ...PAGE_WORDS.silences,
  list: ['List of silences', '静默列表'],
  empty: ['No alert was ever silenced.', '还没有静默过告警。'],
  how: {
    text: [
      '“Silence” on the page of an alert holds its messages back, “New silence” those of many alerts.',
      '告警页面上的“静默”可暂停其消息；“新建静默”可用于多条告警。',
    ],
  },
  noMatch: ['No silence matches the filters.', '没有符合筛选条件的静默。'],
  fields: {
    reason: ['Reason', '原因'],
    state: ['State', '状态'],
    starts_at: ['From', '开始'],
    ends_at: ['Until', '结束'],
    created_at: ['Created', '创建时间'],
    'matchers.source': ['Source', '来源'],
    'matchers.alarm_id': ['Alarm id', '告警标识'],
    'matchers.server_addr': ['Server', '服务器'],
    'matchers.title': ['Title', '标题'],
    label_matchers: ['Labels', '标签'],
    repeat: ['Repeats', '重复'],
    'repeat.days': ['Repeats on', '重复日'],
    'repeat.from': ['From time', '开始时刻'],
    'repeat.to': ['To time', '结束时刻'],
    'repeat.time_zone': ['Time zone', '时区'],
  },
  hints: {
    'matchers.source': [
      'An exact text, or a prefix that ends in *. All given texts must match; an empty field matches every alert.',
      '完整文本，或以 * 结尾的前缀。填写的各项必须全部匹配，留空的项匹配所有告警。',
    ],
    starts_at: ['Now if it is empty', '留空则立即开始'],
    ends_at: [
      'At most 30 days later, or 366 days if it repeats. Empty: 366 days, for one that repeats only',
      '最多 30 天之后；重复的静默最多 366 天，留空即为 366 天',
    ],
    'repeat.days': ['Empty for a silence that does not repeat', '不重复的静默请留空'],
    'repeat.from': ['Such as 02:00', '例如 02:00'],
    'repeat.to': ['Such as 06:00; 24:00 is the end of the day', '例如 06:00；24:00 表示当天结束'],
    'repeat.time_zone': ['Such as Europe/Berlin', '例如 Europe/Berlin'],
  },
  days: {
    mon: ['Mon', '周一'],
    tue: ['Tue', '周二'],
    wed: ['Wed', '周三'],
    thu: ['Thu', '周四'],
    fri: ['Fri', '周五'],
    sat: ['Sat', '周六'],
    sun: ['Sun', '周日'],
  },
  windows: ['Next windows', '接下来的时段'],
  week: ['Silences of the week', '一周的静默'],
  thisWeek: ['This week', '本周'],
  weekBefore: ['The week before', '上一周'],
  weekAfter: ['The week after', '下一周'],
  emptyWeek: ['Nothing is silenced in this week.', '这一周没有静默。'],
  states: { active: ['Active', '生效中'], pending: ['Begins later', '尚未开始'], ended: ['Ended', '已结束'] },
  create: ['Silence', '静默'],
  created: [
    'The silence is created. People are not notified of the matching alerts.',
    '已创建静默，匹配的告警不再发送通知。',
  ],
  matchers: ['Alerts', '告警'],
  end: {
    action: ['End now', '立即结束'],
    title: ['End this silence now?', '要立即结束此静默吗？'],
    text: [
      'People are then notified of the matching alerts that still fire and were never sent.',
      '之后，仍在触发且从未发送过的匹配告警会发送通知。',
    ],
    done: ['The silence has ended.', '静默已结束。'],
  },
  createdBy: ['Created by', '创建者'],
  ended_at: ['Ended', '已结束'],
  endedAt: [(time: string, who: string) => `${time} by ${who}`, (time, who) => `${time}，操作者：${who}`],
  plannedUntil: ['Planned until', '原定结束'],
  matching: [
    (matching: string, open: string) =>
      `It matches ${matching} of the ${open} alerts that have not recovered.`,
    (matching, open) => `匹配 ${open} 条未恢复告警中的 ${matching} 条。`,
  ],
  /** When there are more than are read. */
  matchingAtLeast: [
    (matching: string, open: string) =>
      `It matches at least ${matching} of the more than ${open} alerts that have not recovered.`,
    (matching, open) => `未恢复的告警超过 ${open} 条，至少匹配其中 ${matching} 条。`,
  ],
})
