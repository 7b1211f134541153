import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const reconciliationWords = defineWords({
  ...PAGE_WORDS.reconciliations,
  list: ['List of reconciliations', '对账列表'],
  empty: [
    'There are none yet. Each day is compared with the books of the providers.',
    '还没有对账。每天会与支付机构的账单核对。',
  ],
  how: {
    text: [
      'The worker compares the day before each morning, once there is a channel: a table [payments.channels.NAME] of the configuration. “Reconcile a day” does it now; on the server:',
      '配置了渠道（配置中的 [payments.channels.NAME] 表）后，worker 每天早晨核对前一天。“核对某一天”可立即核对；在服务器上：',
    ],
    command: sameInBoth('platform payments reconcile --channel NAME --date 2026-01-31'),
  },
  fields: {
    date: ['Day', '日期'],
    channel: ['Channel', '渠道'],
    status: ['Status', '状态'],
    matched: ['Matched', '相符'],
    differences: ['Differences', '差异'],
    error: ['Error', '错误'],
    created_at: ['Begun', '开始时间'],
    finished_at: ['Finished', '完成时间'],
    requested_by: ['Requested by', '请求者'],
  },
  statuses: {
    running: ['Running', '进行中'],
    matched: ['Matched', '相符'],
    differs: ['Differs', '有差异'],
    failed: ['Failed', '失败'],
  },
  kinds: {
    missing_here: ['Missing here', '平台缺少'],
    missing_there: ['Missing at the provider', '支付机构缺少'],
    amount_differs: ['Another amount', '金额不符'],
    status_differs: ['Another status', '状态不符'],
  },
  causes: {
    missing_here: [
      'Usually a payment after the backup that was restored, or of another installation with the same account.',
      '通常是恢复所用备份之后的支付，或使用同一账户的其他平台的支付。',
    ],
    missing_there: [
      'Usually paid around midnight: it is in the books of the next day.',
      '通常在午夜前后支付，记在次日的账单中。',
    ],
    amount_differs: [
      'Usually part of it was refunded at the provider by hand.',
      '通常是部分金额已在支付机构手工退款。',
    ],
    status_differs: [
      'Usually a callback was lost and the payment was not asked for since, or a refund was taken back later.',
      '通常是回调丢失且之后未再查询，或退款后来被撤回。',
    ],
  },
  kind: ['Kind', '类型'],
  all: ['All', '全部'],
  types: { payment: ['Payment', '支付'], refund: ['Refund', '退款'] },
  here: ['Here', '平台'],
  there: ['At the provider', '支付机构'],
  nothing: ['nothing', '无'],
  noneOfKind: ['There are none.', '没有差异。'],
  more: [
    (count: string) => `The first ${count} are shown; the API lists all of them.`,
    (count) => `显示前 ${count} 条，全部内容请通过接口查询。`,
  ],
  hints: { date: ['A day that is over, such as 2026-01-31', '已结束的日期，例如 2026-01-31'] },
  requested: ['The day is compared.', '正在核对。'],
  again: ['Reconcile again', '重新核对'],
})
