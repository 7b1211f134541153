import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'

export const auditWords = defineWords({
  ...PAGE_WORDS.audit,
  list: ['Audit trail', '审计记录'],
  empty: ['Nothing was changed yet.', '还没有任何更改。'],
  noMatch: ['No row matches the filters.', '没有符合筛选条件的记录。'],
  fields: {
    at: ['Time', '时间'],
    actor: ['Who', '操作者'],
    kind: ['As', '身份'],
    operation: ['What', '操作'],
    operation_name: ['Operation', '操作名称'],
    target: ['Target', '对象'],
    outcome: ['Outcome', '结果'],
    remote_address: ['From address', '来源地址'],
    request_id: ['Request', '请求'],
    actor_id: ['Id of who', '操作者标识'],
  },
  outcomes: { done: ['Done', '已完成'], refused: ['Refused', '被拒绝'], failed: ['Failed', '失败'] },
  kinds: {
    user: ['User', '用户'],
    token: ['API token', 'API 令牌'],
    local: ['Local tool', '本机工具'],
    system: ['Platform', '平台'],
  },
  changes: ['Changes', '更改内容'],
  changed: sameInBoth((from: string, to: string) => `${from} → ${to}`),
  whoChanged: ['Who changed this', '谁更改过'],
  nobody: ['No change is recorded.', '没有更改记录。'],
  by: [(actor: string) => `by ${actor}`, (actor) => `操作者：${actor}`],
  download: ['Export', '导出'],
})
