import { defineWords, sameInBoth } from '../../../i18n/language.ts'

/** The title of each check of `platform doctor`, by its name. */
export const doctorChecks = defineWords({
  access: ['Access to files', '文件权限'],
  alerts: ['Alerts', '告警'],
  backup: ['Backups', '备份'],
  bus: ['Message bus', '消息总线'],
  certificates: ['Certificates', '证书'],
  clock: ['Clock', '时钟'],
  commands: ['Commands', '命令'],
  configuration: ['Configuration', '配置'],
  database: ['Database', '数据库'],
  disk: ['Disk', '磁盘'],
  engine: ['Database engine', '数据库引擎'],
  files: ['Files', '文件'],
  gateway: ['Gateway', '网关'],
  payments: ['Payments', '支付'],
  ports: ['Ports', '端口'],
  processes: ['Processes', '进程'],
  receivers: ['Receivers', '接收方'],
  service: ['Service', '服务'],
  'sign-in': ['Sign-in', '登录'],
  standby: ['Standby', '备用节点'],
  tls: sameInBoth('TLS'),
  webhooks: ['Webhooks', 'Webhook'],
  worker: ['Worker', '后台任务'],
})
