import type { Beginning } from '../how-to-begin.tsx'
import { defineWords, sameInBoth } from '../../i18n/language.ts'

/** The words of every list. */
export interface ListWords {
  /** The name of the table. */
  readonly list: string
  readonly empty: string
  /** Left out for a list without filters. */
  readonly noMatch?: string
  /** The label of the box for searching a text. */
  readonly find?: string
  /** How the list gets its items. */
  readonly how?: Beginning
  /** The words for the fields, by their names in the API. */
  readonly fields: Readonly<Record<string, string>>
}

/** The words of the part itself. */
export const listWords = defineWords({
  nextRow: ['Next row', '下一行'],
  previousRow: ['Previous row', '上一行'],
  filters: ['Filters', '筛选'],
  addFilter: ['Add filter', '添加筛选'],
  removeFilter: [(name: string) => `Remove the filter ${name}`, (name) => `移除筛选“${name}”`],
  clearFilters: ['Clear all', '全部清除'],
  chip: [(name: string): string => `${name}: `, (name) => `${name}：`],
  apply: ['Apply', '应用'],
  period: ['Period', '时间段'],
  byHand: ['Custom', '自定义'],
  from: ['From', '不早于'],
  before: ['Before', '早于'],
  since: [(from: string) => `from ${from}`, (from) => `不早于 ${from}`],
  until: [(to: string) => `before ${to}`, (to) => `早于 ${to}`],
  between: sameInBoth((from: string, to: string) => `${from} – ${to}`),
  columns: ['Columns', '列'],
  usualColumns: ['Usual columns', '恢复默认列'],
  selectItem: [(title: string) => `Select ${title}`, (title) => `选择 ${title}`],
  selectPage: ['Select the whole page', '选择整页'],
  selectNone: ['Select none', '取消选择'],
  selected: [(count: string) => `${count} selected`, (count) => `已选择 ${count} 条`],
  sentOf: [(sent: string, all: string) => `${sent} of ${all} …`, (sent, all) => `${sent} / ${all} ……`],
  bulkQuestion: [
    (action: string) => (count: string) => `${action}: ${count} selected?`,
    (action) => (count) => `${action}：已选择 ${count} 条，要继续吗？`,
  ],
  bulkDone: [
    (action: string) => (count: string) => `${action}: ${count} done.`,
    (action) => (count) => `${action}：已完成 ${count} 条。`,
  ],
  notDone: [
    (titles: string, reason: string) => `Refused: ${titles} (${reason})`,
    (titles, reason) => `未完成：${titles}（${reason}）`,
  ],
  andMore: [(count: string) => `${count} more`, (count) => `另外 ${count} 条`],
  exportList: ['Export', '导出'],
  exportHint: ['Save all pages as a table (CSV)', '将所有页保存为表格（CSV）'],
  views: ['Views', '视图'],
  noViews: [
    'Save the filters, the order and the columns as they are now, and find them here again.',
    '将当前的筛选、排序和列保存下来，以后可在此处打开。',
  ],
  newView: ['Name of a new view', '新视图的名称'],
  viewName: ['Name of the view', '视图名称'],
  viewSaved: [
    (name: string) => `The view ${name} is saved in this browser.`,
    (name) => `视图 ${name} 已保存在此浏览器中。`,
  ],
  rename: ['Rename', '重命名'],
  remove: ['Remove', '移除'],
  renameView: [(name: string) => `Rename the view ${name}`, (name) => `重命名视图 ${name}`],
  removeView: [(name: string) => `Remove the view ${name}`, (name) => `移除视图 ${name}`],
  periods: {
    'last-10m': ['Last 10 minutes', '最近 10 分钟'],
    'last-1h': ['Last hour', '最近 1 小时'],
    today: ['Today', '今天'],
    'last-24h': ['Last 24 hours', '最近 24 小时'],
    'last-7d': ['Last 7 days', '最近 7 天'],
    'last-30d': ['Last 30 days', '最近 30 天'],
    overdue: ['Overdue', '已逾期'],
    'next-10m': ['Within 10 minutes', '10 分钟内'],
    'next-1h': ['Within an hour', '1 小时内'],
    'next-24h': ['Within 24 hours', '24 小时内'],
    'next-7d': ['Within 7 days', '7 天内'],
    'next-30d': ['Within 30 days', '30 天内'],
  },
})
