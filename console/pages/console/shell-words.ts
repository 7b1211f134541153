import { defineWords } from '../../i18n/language.ts'

export const shellWords = defineWords({
  console: ['Console', '控制台'],
  navigation: ['Pages', '页面'],
  menu: ['Menu', '菜单'],
  skip: ['Skip to the content', '跳到正文'],
  search: ['Search', '搜索'],
  timeZone: [(zone: string) => `Times are in ${zone}.`, (zone) => `时间按 ${zone} 时区显示。`],
  live: {
    connecting: ['Connecting …', '正在连接……'],
    live: ['Live', '实时'],
    broken: ['Not up to date: reconnecting …', '数据可能已过时，正在重新连接……'],
    off: ['Not live', '非实时'],
  },
  reconnect: ['Reconnect now', '立即重新连接'],
  goTo: [
    (page: string) => `Go to ${page}`,
    (page) => (/^[A-Za-z]/.test(page) ? `前往 ${page}` : `前往${page}`),
  ],
  openPalette: ['Search pages and actions', '搜索页面和操作'],
  showKeys: ['Show the keyboard shortcuts', '显示键盘快捷键'],
  showTour: ['Show the tour of the console', '显示控制台导览'],
  switchLanguage: [(name: string) => `Switch to ${name}`, (name) => `切换到 ${name}`],
  useTheme: [(name: string) => `Colours: ${name}`, (name) => `颜色：${name}`],
  notFound: ['There is no such page, or your roles do not allow it.', '页面不存在，或您的角色无权访问。'],
  toFirstPage: ['To the first page', '前往首页'],
  noPages: [
    'Your account has no role for any page. Ask an administrator for one.',
    '您的账户没有任何页面的权限，请联系管理员。',
  ],
  openOrder: [(id: string) => `Open the order ${id}`, (id) => `打开订单 ${id}`],
  openObject: [(id: string) => `Open what has the id ${id}`, (id) => `打开编号为 ${id} 的对象`],
  noObject: [
    (id: string) => `Nothing that your roles allow you to see was found with the id ${id}.`,
    (id) => `没有找到编号为 ${id} 且您的角色可查看的对象。`,
  ],
  runCommand: [(title: string) => `Run the command ${title}`, (title) => `运行命令 ${title}`],
  searchIn: {
    orders: [
      (text: string) => `Orders whose ids begin with ${text}`,
      (text) => `订单号以 ${text} 开头的订单`,
    ],
    alerts: [(text: string) => `Alerts with the text ${text}`, (text) => `包含 ${text} 的告警`],
    tickets: [(text: string) => `Tickets with the text ${text}`, (text) => `包含 ${text} 的工单`],
  },
  nothingFound: [
    'No such page or action. Orders, tickets, alerts and other objects are found by their whole id.',
    '没有此页面或操作。订单、工单、告警等对象须按完整编号查找。',
  ],
})
