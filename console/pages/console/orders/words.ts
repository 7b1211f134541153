import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const orderWords = defineWords({
  related: {
    payments: ['Payments', '支付'],
    alerts: ['Alerts', '告警'],
    messages: ['Messages of its time', '同一时段的消息'],
  },
  ...PAGE_WORDS.orders,
  list: ['List of orders', '订单列表'],
  fields: {
    order_id: ['Order', '订单号'],
    platform: ['Platform', '平台'],
    amount_cents: ['Amount', '金额'],
    status: ['Status', '状态'],
    created_at: ['Created', '创建时间'],
    updated_at: ['Last change', '最近更改'],
    expires_at: ['Expires', '到期时间'],
    paid_at: ['Paid', '付款时间'],
    shipped_at: ['Shipped', '发货时间'],
    completed_at: ['Completed', '完成时间'],
    expired_at: ['Expired', '过期时间'],
    id_prefix: ['Id begins with', '订单号开头'],
    ended: ['Completed or expired', '完成或过期时间'],
  },
  wasPayableUntil: ['Payable until', '付款截止'],
  statuses: {
    pending: ['Pending', '待付款'],
    paid: ['Paid', '已付款'],
    shipped: ['Shipped', '已发货'],
    completed: ['Completed', '已完成'],
    expired: ['Expired', '已过期'],
  },
  /** What a button does that moves an order to the status. */
  moves: {
    pending: ['Reopen', '重新打开'],
    paid: ['Mark as paid', '标记为已付款'],
    shipped: ['Mark as shipped', '标记为已发货'],
    completed: ['Complete', '完成'],
    expired: ['Expire', '使其过期'],
  },
  history: ['History', '历史记录'],
  created: ['Created', '已创建'],
  notPaid: ['by the platform: it was not paid in time', '由平台处理：未按时付款'],
  moved: [(id: string, status: string) => `${id}: ${status}`, (id, status) => `${id}：${status}`],
  /** What is asked before a move that nothing takes back. */
  finalMoves: {
    completed: {
      title: [(id: string) => `Complete the order ${id}?`, (id) => `要完成订单 ${id} 吗？`],
      text: [
        'This cannot be undone: a completed order keeps this status.',
        '此操作无法撤销：已完成的订单将一直保持此状态。',
      ],
    },
    expired: {
      title: [(id: string) => `Expire the order ${id}?`, (id) => `要使订单 ${id} 过期吗？`],
      text: [
        'This cannot be undone: an expired order can never be paid.',
        '此操作无法撤销：已过期的订单无法再付款。',
      ],
    },
  },
  find: ['Find by id or its beginning', '按订单号或其开头查找'],
  create: ['Create the order', '创建订单'],
  createdToast: [(id: string) => `Order ${id} was created.`, (id) => `已创建订单 ${id}。`],
  hints: {
    order_id: ['1 to 64 letters, digits or . _ : -', '1 至 64 个字母、数字或 . _ : -'],
    amount_cents: ['Such as 49.90 or 1,299.00', '例如 49.90 或 1,299.00'],
    expires_at: ['15 minutes from now if it is empty', '留空则为 15 分钟后'],
  },
  empty: ['There are no orders yet.', '还没有订单。'],
  how: {
    text: [
      'A shop creates orders through the API, or “New order” does.',
      '商城通过 API 创建订单，也可使用“新建订单”。',
    ],
    command: sameInBoth(
      `curl $URL/orders -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' -d '{"order_id":"o-1","platform":"shop","amount_cents":4990}'`,
    ),
  },
  noMatch: ['No order matches the filters.', '没有符合筛选条件的订单。'],
  noEnd: ['Only a completed or expired order has an end.', '只有已完成或已过期的订单才有结束时间。'],
  similar: ['Show the orders whose ids begin with it', '显示订单号以此开头的订单'],
})
