import { defineWords } from '../../i18n/language.ts'

/** The words of every list. */
export interface ListWords {
  /** The name of the table. */
  readonly list: string
  readonly empty: string
  readonly noMatch: string
  /** What the box says in which a text is searched. */
  readonly find?: string
  /** How the list gets its items, and a command that makes one; `$URL` in it is the address of the API. */
  readonly how?: { readonly text: string; readonly command?: string }
  /** By the names of the API. */
  readonly fields: Readonly<Record<string, string>>
}

/** The words of the part itself. */
export const listWords = defineWords({
  en: {
    nextRow: 'Next row',
    previousRow: 'Previous row',
    filters: 'Filters',
    addFilter: 'Add filter',
    removeFilter: (name: string) => `Remove the filter ${name}`,
    clearFilters: 'Clear all',
    chip: (name: string): string => `${name}: `,
    apply: 'Apply',
    period: 'Period',
    byHand: 'Custom',
    from: 'From',
    before: 'Before',
    since: (from: string) => `from ${from}`,
    until: (to: string) => `before ${to}`,
    between: (from: string, to: string) => `${from} – ${to}`,
    columns: 'Columns',
    usualColumns: 'Usual columns',
    exportList: 'Export',
    exportHint: 'Save all pages as a table (CSV)',
    views: 'Views',
    noViews: 'Save the filters, the order and the columns as they are now, and find them here again.',
    newView: 'Name of a new view',
    viewName: 'Name of the view',
    viewSaved: (name: string) => `The view ${name} is saved in this browser.`,
    rename: 'Rename',
    remove: 'Remove',
    renameView: (name: string) => `Rename the view ${name}`,
    removeView: (name: string) => `Remove the view ${name}`,
    periods: {
      'last-10m': 'Last 10 minutes',
      'last-1h': 'Last hour',
      today: 'Today',
      'last-24h': 'Last 24 hours',
      'last-7d': 'Last 7 days',
      'last-30d': 'Last 30 days',
      overdue: 'Overdue',
      'next-10m': 'Within 10 minutes',
      'next-1h': 'Within an hour',
      'next-24h': 'Within 24 hours',
      'next-7d': 'Within 7 days',
      'next-30d': 'Within 30 days',
    },
  },
  zh: {
    nextRow: '下一行',
    previousRow: '上一行',
    filters: '筛选',
    addFilter: '添加筛选',
    removeFilter: (name) => `移除筛选“${name}”`,
    clearFilters: '全部清除',
    chip: (name) => `${name}：`,
    apply: '应用',
    period: '时间段',
    byHand: '自定义',
    from: '不早于',
    before: '早于',
    since: (from) => `不早于 ${from}`,
    until: (to) => `早于 ${to}`,
    between: (from, to) => `${from} – ${to}`,
    columns: '列',
    usualColumns: '恢复默认列',
    exportList: '导出',
    exportHint: '将所有页保存为表格（CSV）',
    views: '视图',
    noViews: '将当前的筛选、排序和列保存下来，以后可在此处打开。',
    newView: '新视图的名称',
    viewName: '视图名称',
    viewSaved: (name) => `视图 ${name} 已保存在此浏览器中。`,
    rename: '重命名',
    remove: '移除',
    renameView: (name) => `重命名视图 ${name}`,
    removeView: (name) => `移除视图 ${name}`,
    periods: {
      'last-10m': '最近 10 分钟',
      'last-1h': '最近 1 小时',
      today: '今天',
      'last-24h': '最近 24 小时',
      'last-7d': '最近 7 天',
      'last-30d': '最近 30 天',
      overdue: '已逾期',
      'next-10m': '10 分钟内',
      'next-1h': '1 小时内',
      'next-24h': '24 小时内',
      'next-7d': '7 天内',
      'next-30d': '30 天内',
    },
  },
})
