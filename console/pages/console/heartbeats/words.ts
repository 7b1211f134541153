import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const heartbeatWords = defineWords({
  ...PAGE_WORDS.heartbeats,
  list: ['List of heartbeats', '心跳列表'],
  empty: [
    'There are no heartbeats. A heartbeat raises an alert when a program stops to send its beats.',
    '没有心跳。程序停止发送心跳时，会触发告警。',
  ],
  how: {
    text: ['“New heartbeat” makes one, or a program does:', '可用“新建心跳”创建，也可由程序创建：'],
    command: sameInBoth(
      `curl -X PUT $URL/alerts/heartbeats/nightly -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' -d '{"every_seconds":86400,"grace_seconds":600}'`,
    ),
  },
  fields: {
    name: ['Heartbeat', '心跳'],
    status: ['Status', '状态'],
    severity: ['Severity', '级别'],
    source: ['Source', '来源'],
    every_seconds: ['Every', '间隔'],
    grace_seconds: ['Grace', '宽限'],
    last_beat_at: ['Last beat', '最近一次'],
    due_at: ['Next beat due (grace included)', '下次到期（含宽限）'],
    missed_at: ['Missed since', '缺失时间'],
    max_run_seconds: ['Longest run', '最长运行时间'],
    started_at: ['Running since', '运行开始于'],
    duration_seconds: ['Last run took', '上次运行时长'],
  },
  statuses: {
    waiting: ['Waiting for the first beat', '等待首次心跳'],
    ok: ['OK', '正常'],
    missed: ['Missed', '缺失'],
  },
  formFields: {
    name: ['Name', '名称'],
    every: ['Every', '间隔'],
    schedule: ['Or a schedule', '或计划'],
    time_zone: ['Time zone', '时区'],
    grace: ['Grace', '宽限'],
    longest: ['Longest run', '最长运行时间'],
    severity: ['Severity', '级别'],
    source: ['Source', '来源'],
  },
  hints: {
    name: ['1 to 64 letters, digits or . _ -', '1 至 64 个字母、数字或 . _ -'],
    every: [
      'The longest time between two beats, such as 15m, 2h or 1d 12h: from 30 s to 31 days',
      '两次心跳之间的最长时间，例如 15m、2h 或 1d 12h：30 秒至 31 天',
    ],
    schedule: [
      'Five cron fields, such as 0 2 * * *: each day at two o’clock',
      '五个 cron 字段，例如 0 2 * * *：每天两点',
    ],
    time_zone: [
      'Of the clock of the server on which the job runs, such as Europe/Berlin; UTC if it is empty',
      '运行任务的服务器所用的时区，例如 Europe/Berlin；留空则为 UTC',
    ],
    grace: [
      'How late a beat may be, with a schedule also the time that the job takes: at most 7 days',
      '心跳可以迟到多久，按计划时还包括任务的运行时间：最多 7 天',
    ],
    longest: [
      'For jobs that also tell their start: then they must end within this time',
      '适用于也报告开始的任务：必须在此时间内结束',
    ],
    source: [
      'Of the alert of a missed beat; platform.heartbeats if it is empty',
      '心跳缺失告警的来源；留空则为 platform.heartbeats',
    ],
  },
  badName: ['1 to 64 letters, digits or . _ - are needed.', '需要 1 至 64 个字母、数字或 . _ -。'],
  takenName: [
    'There is a heartbeat with this name. Edit it, or choose another name.',
    '已有此名称的心跳。请编辑它，或换一个名称。',
  ],
  badPeriod: [
    'Enter a number with a unit, such as 30s, 15m, 2h or 1d.',
    '请输入数字和单位，例如 30s、15m、2h 或 1d。',
  ],
  periodLimits: {
    every: ['It must be from 30 seconds to 31 days.', '必须在 30 秒到 31 天之间。'],
    grace: ['It must be at most 7 days.', '最多 7 天。'],
    longest: ['It must be from 1 second to 31 days.', '必须在 1 秒到 31 天之间。'],
  },
  needsTime: [
    'Fill in either the time between two beats or a schedule.',
    '请填写两次心跳的间隔或计划，二者择一。',
  ],
  create: ['Create the heartbeat', '创建心跳'],
  edit: ['Edit', '编辑'],
  editTitle: [(name: string) => `Edit the heartbeat ${name}`, (name) => `编辑心跳 ${name}`],
  save: ['Save', '保存'],
  saved: [
    (name: string, every: string) =>
      `The heartbeat ${name} expects a beat every ${every}. It counts from now.`,
    (name, every) => `心跳 ${name} 现在每 ${every}应有一次心跳，从现在开始计时。`,
  ],
  address: {
    title: ['The address for pings', '上报地址'],
    text: [
      'Whoever calls it sends a beat, so treat it as a password. It is shown this once; "New address" gives another one.',
      '调用此地址即发送一次心跳，请像密码一样保管。仅显示这一次；“新地址”会生成另一个。',
    ],
    close: ['I have copied it', '已复制'],
  },
  crontab: [
    'In a crontab: the job, then its exit code. A code other than 0 raises the alert at once.',
    '写入 crontab：先运行任务，再上报其退出码。退出码不为 0 时立即触发告警。',
  ],
  isLocal: [
    'Other servers cannot call this address: it is of the computer on which your browser runs. Set console.url, restart, and take “New address”.',
    '其他服务器无法调用此地址：它指向您的浏览器所在的计算机。请设置 console.url，重启，再点“新地址”。',
  ],
  rotate: {
    action: ['New address', '新地址'],
    title: [
      (name: string) => `Give ${name} a new address for its pings?`,
      (name) => `要为 ${name} 生成新的上报地址吗？`,
    ],
    text: [
      'The address before it ends at once: the job must call the new one.',
      '原地址立即失效：任务必须调用新地址。',
    ],
    done: ['The heartbeat has a new address.', '心跳已有新地址。'],
  },
  ifMissed: ['Who is notified if it is missed', '缺失时通知谁'],
  pings: ['Last pings', '最近上报'],
  noPings: ['There were no pings yet.', '尚无上报。'],
  kinds: {
    done: ['Done', '完成'],
    start: ['Started', '开始'],
    fail: ['Failed', '失败'],
    exit: ['Exit code', '退出码'],
    log: ['Text', '文本'],
  },
  took: [(time: string) => `took ${time}`, (time) => `用时 ${time}`],
  beat: {
    action: ['Send a beat', '发送一次心跳'],
    title: [(name: string) => `Send a beat of ${name} by hand?`, (name) => `要手动发送 ${name} 的心跳吗？`],
    text: [
      'No job has run. This turns "Missed" into "OK", and the alert recovers.',
      '任务并未运行。此操作会将“缺失”变为“正常”，其告警将恢复。',
    ],
    done: ['The beat is recorded.', '心跳已记录。'],
  },
  remove: {
    action: ['Delete', '删除'],
    title: [(name: string) => `Delete the heartbeat ${name}?`, (name) => `要删除心跳 ${name} 吗？`],
    text: [
      'Its alert recovers, and nobody is notified when the program stops.',
      '其告警将恢复；程序停止时不再通知任何人。',
    ],
    done: ['The heartbeat is deleted.', '心跳已删除。'],
  },
  never: ['Never', '从未'],
})
