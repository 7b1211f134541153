import { defineWords } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const webhookWords = defineWords({
  ...PAGE_WORDS.webhooks,
  list: ['List of webhooks', 'Webhook 列表'],
  empty: [
    'There are no webhooks. A webhook sends events to another program.',
    '没有 Webhook。Webhook 将事件发送给其他程序。',
  ],
  how: {
    text: ['“New webhook” asks for its address and its events.', '“新建 Webhook”会询问地址和事件。'],
  },
  fields: {
    url: ['Address', '地址'],
    state: ['State', '状态'],
    subjects: ['Subjects', '主题'],
    description: ['Description', '说明'],
    pending: ['Waiting', '等待发送'],
    failing_since: ['Failing since', '失败开始于'],
    last_success_at: ['Last success', '最近成功'],
  },
  hints: {
    subjects: [
      'Separated by commas, such as order.paid or order.*',
      '用逗号分隔，例如 order.paid 或 order.*',
    ],
  },
  states: {
    enabled: ['Enabled', '已启用'],
    by_hand: ['Disabled', '已停用'],
    gone: ['Disabled: answered 410', '已停用：接收方回复 410'],
    failing: ['Disabled: failed', '已停用：持续失败'],
  },
  create: ['Create the webhook', '创建 Webhook'],
  created: ['The webhook is created.', 'Webhook 已创建。'],
  edit: ['Edit', '编辑'],
  save: ['Save', '保存'],
  saved: ['The webhook is changed.', 'Webhook 已更改。'],
  secret: {
    title: ['The secret of the signatures', '签名密钥'],
    text: [
      'The receiver verifies the signatures with it. It is shown this once; "New secret" gives another one.',
      '接收方用它验证签名。仅显示这一次；“新密钥”会生成另一个。',
    ],
    close: ['I have copied it', '已复制'],
  },
  test: {
    action: ['Send a test', '发送测试'],
    title: ['Send a test event to the endpoint?', '向接收方发送测试事件？'],
    text: ['The list of deliveries shows its answer.', '投递列表会显示其回复。'],
    done: ['The test is on its way.', '测试已发出。'],
  },
  rotate: {
    action: ['New secret', '新密钥'],
    title: ['Give the webhook a new secret?', '为此 Webhook 生成新密钥？'],
    text: [
      'Each call has a signature of both secrets for 24 hours.',
      '24 小时内每次调用都带有两个密钥的签名。',
    ],
    done: ['The webhook has a new secret.', 'Webhook 已有新密钥。'],
  },
  enable: {
    action: ['Enable', '启用'],
    title: ['Enable the webhook?', '启用此 Webhook？'],
    text: [
      'It gets the events from now on. To send those before first, choose "Send what was missed" instead.',
      '从现在起接收事件。若要先发送之前的事件，请改用“补发”。',
    ],
  },
  disable: {
    action: ['Disable', '停用'],
    title: ['Disable the webhook?', '停用此 Webhook？'],
    text: ['It gets nothing until it is enabled.', '启用之前不会收到任何事件。'],
  },
  recover: {
    action: ['Send what was missed', '补发'],
    title: [
      'Send all that has failed, or was not sent, in the last 7 days?',
      '补发最近 7 天内失败或未发送的事件？',
    ],
    text: [
      'A disabled webhook is enabled by it. The platform keeps events for this long by default; older ones cannot be sent.',
      '已停用的 Webhook 会随之启用。平台默认保留事件这么久，更早的无法发送。',
    ],
    done: ['The events are on their way.', '事件正在发送。'],
  },
  remove: {
    action: ['Delete', '删除'],
    title: ['Delete the webhook?', '删除此 Webhook？'],
    text: ['Its deliveries are deleted too.', '其投递记录也会删除。'],
    done: ['The webhook is deleted.', 'Webhook 已删除。'],
  },
  deliveries: ['Deliveries', '投递'],
  noDeliveries: ['There are none.', '没有投递。'],
  status: ['Status', '状态'],
  all: ['All', '全部'],
  statuses: { pending: ['Waiting', '等待'], delivered: ['Delivered', '已送达'], failed: ['Failed', '失败'] },
  attempts: [(count: number) => `tries: ${count}`, (count) => `尝试 ${count} 次`],
  redeliver: {
    action: ['Send again', '重新发送'],
    title: ['Send the event again?', '重新发送此事件？'],
    text: ['With the same id: the receiver may have seen it.', '编号不变：接收方可能已经收到过。'],
    done: ['The event is on its way.', '事件已发出。'],
  },
  never: ['Never', '从未'],
})
