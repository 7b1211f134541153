import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'
import { SEVERITY_WORDS } from './severities.ts'
import { formatSome } from '../../../parts/format.ts'

export const alertWords = defineWords({
  ...PAGE_WORDS.alerts,
  list: ['List of alerts', '告警列表'],
  find: ['Find alerts by their text', '按文本查找告警'],
  empty: ['No alert was ever reported.', '还没有收到过告警。'],
  how: {
    text: [
      'Programs report alerts, and the platform raises its own.',
      '程序上报告警，平台也会自行产生告警。',
    ],
    command: sameInBoth(
      `curl $URL/alerts/report -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' -d '{"source":"shop.web","title":"The shop is slow","level":"HIGH"}'`,
    ),
  },
  noMatch: ['No alert matches the filters.', '没有符合筛选条件的告警。'],
  fields: {
    title: ['Alert', '告警'],
    status: ['Status', '状态'],
    level: ['Severity', '级别'],
    severity: ['Severity', '级别'],
    source: ['Source', '来源'],
    alarm_id: ['Alarm id', '告警标识'],
    server_addr: ['Server', '服务器'],
    runbook_url: ['Runbook', '处理手册'],
    count: ['Reports', '上报次数'],
    first_at: ['First report', '首次上报'],
    last_at: ['Last report', '最近上报'],
    recovered_at: ['Recovered', '恢复时间'],
    created: ['Created', '创建时间'],
    comment: ['Comment', '备注'],
    text: ['Search', '搜索'],
    sort: ['Order', '排序'],
  },
  statuses: {
    firing: ['Firing', '触发中'],
    acknowledged: ['Acknowledged', '已确认'],
    recovered: ['Recovered', '已恢复'],
    frozen: ['Frozen', '已冻结'],
  },
  severities: SEVERITY_WORDS,
  acknowledge: ['Acknowledge', '确认'],
  acknowledged: ['The alert is acknowledged.', '告警已确认。'],
  heldBack: [
    'Messages about this alert are held back until the acknowledgement lapses or the alert becomes more severe. Then it fires again.',
    '在确认到期或级别升高之前，不再发送此告警的消息。之后会再次告警。',
  ],
  heldBackFor: [
    (time: string) =>
      `Messages about this alert are held back for ${time}, or until it becomes more severe. Then it fires again.`,
    (time) => `在 ${time}内或级别升高之前，不再发送此告警的消息。之后会再次告警。`,
  ],
  unfreeze: ['Unfreeze', '解除冻结'],
  unfrozen: ['The alert is not frozen any more.', '告警已解除冻结。'],
  recover: {
    action: ['Declare recovered', '标记为已恢复'],
    title: ['Declare this alert recovered?', '要将此告警标记为已恢复吗？'],
    text: ['It fires again with the next report.', '下次上报时会再次告警。'],
    done: ['The alert is recovered.', '告警已恢复。'],
  },
  silence: ['Silence', '静默'],
  silenced: ['Silenced', '已静默'],
  until: [(time: string) => `until ${time}`, (time) => `至 ${time}`],
  silenceReason: ['Known, is being worked on', '已知问题，正在处理'],
  silenceMany: {
    question: [
      (count: string, sources: string) => `Silence ${count} alerts of ${sources} sources for 2 hours?`,
      (count, sources) => `要将 ${sources} 个来源的 ${count} 条告警静默 2 小时吗？`,
    ],
    text: ['Each source gets a silence of its own.', '每个来源各创建一个静默。'],
    done: [(count: string) => `Silences created: ${count}.`, (count) => `已创建静默：${count} 个。`],
  },
  orders: { severity: ['Most severe first', '最严重的在前'], created_at: ['Newest first', '最新的在前'] },
  alertCount: [(count: string) => `${count} alerts`, (count) => `${count} 条告警`],
  body: ['Text', '内容'],
  bulk: {
    acknowledge: {
      question: [
        (count: string) =>
          count === '1' ? 'Acknowledge one firing alert?' : `Acknowledge ${count} firing alerts?`,
        (count) => `要确认 ${count} 条触发中的告警吗？`,
      ],
      text: [
        'Messages are held back until the acknowledgement lapses or an alert becomes more severe.',
        '在确认到期或级别升高之前，不再发送这些告警的消息。',
      ],
      action: ['Acknowledge', '全部确认'],
      done: [(count: string) => `Alerts acknowledged: ${count}.`, (count) => `已确认告警：${count} 条。`],
    },
    recover: {
      question: [
        (count: string) =>
          count === '1' ? 'Declare one alert recovered?' : `Declare ${count} alerts recovered?`,
        (count) => `要将 ${count} 条告警标记为已恢复吗？`,
      ],
      text: ['Each fires again with its next report.', '下次上报时会再次告警。'],
      action: ['Declare recovered', '全部标记为已恢复'],
      done: [(count: string) => `Alerts recovered: ${count}.`, (count) => `已恢复告警：${count} 条。`],
    },
  },
  named: {
    orders: [(id: string) => `Order ${id}`, (id) => `订单 ${id}`],
    heartbeats: [(id: string) => `Heartbeat ${id}`, (id) => `心跳 ${id}`],
    messages: [(id: string) => `Message ${id}`, (id) => `消息 ${id}`],
    executions: [(id: string) => `Execution ${id}`, (id) => `执行 ${id}`],
    payments: [(id: string) => `Payment ${id}`, (id) => `支付 ${id}`],
    reconciliations: [(channel: string) => `Reconciliations of ${channel}`, (channel) => `${channel} 的对账`],
  },
  timeline: ['What has happened', '发生的事情'],
  firstReport: ['First report', '首次上报'],
  decision: [
    (occasion: string, outcome: string) => `${occasion}: ${outcome}`,
    (occasion, outcome) => `${occasion}：${outcome}`,
  ],
  sentences: {
    noRobot: ['No chat robot is set up (alerts.robot.url).', '未配置聊天机器人 (alerts.robot.url)。'],
    belowLevel: [
      (severity: string, least: string) => `${severity} is below ${least} (min_severity of the route).`,
      (severity, least) => `“${severity}”低于“${least}”(路由的 min_severity)。`,
    ],
    noReceiver: [
      'No route of the alert names a receiver (alerts.routes, alerts.default_receivers).',
      '此告警的路由没有接收方 (alerts.routes, alerts.default_receivers)。',
    ],
    damped: [
      'The alert changes too often; further changes like this one are not listed.',
      '告警变化过于频繁，不再列出类似的变化。',
    ],
    outsideHours: [
      (route: string, at: string) => `Outside of the hours of the route ${route}: told at ${at}.`,
      (route, at) => `不在路由 ${route} 的时段内：将于 ${at} 通知。`,
    ],
    inhibitedBy: ['Inhibited by the alert', '被此告警抑制：'],
    silencedBy: ['Silenced by', '被此静默：'],
    acknowledged: ['The alert is acknowledged.', '告警已被确认。'],
    frozen: [
      'The alert is frozen; further changes like this one are not listed.',
      '告警已被冻结，不再列出类似的变化。',
    ],
    neverPushed: ['The alert was never sent.', '从未发送过此告警。'],
    sentIn: [(message: string) => `Sent in message ${message}.`, (message) => `在消息 ${message} 中发送。`],
    sentWith: [
      (others: number, message: string) => `Sent with ${formatSome(others, 'other')} in message ${message}.`,
      (others, message) => `与另外 ${others} 条合并在消息 ${message} 中发送。`,
    ],
    swings: [
      (swings: number, reports: number) =>
        `${formatSome(swings, 'swing')} in ${formatSome(reports, 'report')}`,
      (swings, reports) => `${reports} 次上报中变化了 ${swings} 次`,
    ],
  },
  route: ['Where this alert goes', '此告警通知谁'],
  routes: ['Routes: ', '路由：'],
  routeReasons: {
    told: ['told', '已通知'],
    route: ['to be told at the next change', '将在下次变化时通知'],
    waiting: ['waits to be sent', '等待发送'],
    outside_hours: ['waits for the hours of the route', '等待路由的时段'],
    escalation: ['to be told unless somebody acknowledges the alert', '无人确认时将通知'],
    repetition: ['to be told again while the alert fires', '持续告警时将再次通知'],
  },
  occasions: {
    raised: ['Raised', '触发'],
    risen: ['More severe', '级别升高'],
    recovered: ['Recovered', '恢复'],
    acknowledgement_lapsed: ['The acknowledgement has lapsed', '确认已到期'],
    repeated: ['Still firing: told again', '仍在告警：再次通知'],
    silence_ended: ['A silence has ended', '静默已结束'],
    inhibition_ended: ['An inhibition has ended', '抑制已结束'],
    escalated: ['Escalated', '升级通知'],
    damped: ['Changes too often', '变化过于频繁'],
    undamped: ['No longer changes too often', '不再频繁变化'],
    frozen: ['Frozen', '冻结'],
    unfrozen: ['Unfrozen', '解除冻结'],
  },
  outcomes: {
    disabled: ['nobody was notified', '未通知任何人'],
    below_level: ['not severe enough', '级别不够'],
    inhibited: ['inhibited by a more severe alert', '被更严重的告警抑制'],
    silenced: ['silenced', '已静默'],
    acknowledged: ['acknowledged', '已确认'],
    frozen: ['frozen', '已冻结'],
    damped: ['changes too often', '变化过于频繁'],
    superseded: ['replaced by a newer state', '已被更新的状态取代'],
    pending: ['waits to be sent', '等待发送'],
    sent: ['sent', '已发送'],
    bundled: ['sent with others', '已合并发送'],
    failed: ['could not be sent', '发送失败'],
  },
})
