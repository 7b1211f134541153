import { defineWords, sameInBoth } from '../../../i18n/language.ts'
import { PAGE_WORDS } from '../page-words.ts'
import { formatSome } from '../../../parts/format.ts'

export const settingWords = defineWords({
  ...PAGE_WORDS.settings,
  list: ['Settings in effect', '当前生效的设置'],
  about: [
    'The values with which the api runs. Secrets are masked. Change them in the configuration, then restart.',
    'API 运行时使用的值，机密已隐藏。请在配置中修改，然后重启。',
  ],
  timeZone: [
    (zone: string) =>
      `The console shows all times in the time zone of your browser, ${zone}. backup.time_zone is for the nightly backup only.`,
    (zone) => `控制台中的时间均按浏览器所在时区 ${zone} 显示。backup.time_zone 仅用于夜间备份。`,
  ],
  file: [(path: string) => `The configuration file is ${path}.`, (path) => `配置文件：${path}`],
  noFile: ['There is no configuration file.', '没有配置文件。'],
  fields: { key: ['Setting', '设置项'], value: ['Value', '值'], source: ['From', '来源'] },
  find: ['Find a setting', '查找设置项'],
  changed: ['Only settings that differ from their default', '仅显示与默认值不同的设置项'],
  noMatch: ['No setting matches.', '没有符合条件的设置项。'],
  isDefault: ['Default', '默认值'],
  unset: ['(unset)', '（未设置）'],
  sources: { file: ['file', '文件'], environment: ['environment', '环境变量'], option: ['option', '选项'] },
  count: [(count: number) => formatSome(count, 'setting'), (count) => `${count} 项设置`],
  sections: {
    general: ['General', '常规'],
    api: sameInBoth('API'),
    gateway: ['VPN gateway', 'VPN 网关'],
    database: ['Database', '数据库'],
    bus: ['Message bus', '消息总线'],
    auth: ['Sign-in', '登录'],
    proxy: ['Proxies', '代理'],
    vpn: sameInBoth('VPN'),
    orders: ['Orders', '订单'],
    payments: ['Payments', '支付'],
    messages: ['Messages', '消息'],
    alerts: ['Alerts', '告警'],
    receivers: ['Receivers', '接收方'],
    webhooks: ['Webhooks', 'Webhook'],
    commands: ['Commands', '命令'],
    templates: ['Templates', '模板'],
    telemetry: ['Telemetry', '遥测'],
    worker: ['Worker', '后台任务'],
    audit: ['Audit trail', '审计'],
    console: ['Console', '控制台'],
    data: ['Data backups', '数据备份'],
    backup: ['Nightly backup', '夜间备份'],
    log: ['Log', '日志'],
  },
})
