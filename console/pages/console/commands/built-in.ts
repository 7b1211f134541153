import { language } from '../../../i18n/language.ts'

interface BuiltInWords {
  readonly title: string
  readonly description: string
  /** The descriptions of the parameters. */
  readonly params?: Readonly<Record<string, string>>
}

/** The built-in commands in Chinese; the platform describes them in English. */
export const BUILT_IN_ZH: Readonly<Record<string, BuiltInWords>> = {
  'certificates.inspect': {
    title: '检查证书',
    description: '立即检查所有证书及其文件，无需等到下次定时检查。',
  },
  'data.backup': { title: '备份数据库', description: '创建数据备份，并等待其完成和校验。' },
  'data.prune': {
    title: '删除旧的数据备份',
    description: '保留最新的已完成备份，其中始终包含最新的已校验备份。',
    params: { keep: '保留的备份数量。' },
  },
  'messages.redrive-dead': {
    title: '重新发送死信消息',
    description: '使所有死信消息重新等待发送。请先排除原因，否则它们会再次成为死信。',
  },
  'orders.expire-due': {
    title: '使到期订单过期',
    description: '立即使已到期的待付款订单过期，无需等到下次定时检查。',
  },
  'vpn.disconnect-user': {
    title: '断开 VPN 用户',
    description: '以 4403 关闭一个用户的所有在线会话。该用户可以再次连接；如需阻止，请停用该用户。',
    params: { user_id: '用户的标识。' },
  },
}

/** A command in the language of the reader. A command of the configuration is shown as it is written there. */
export function localCommand<T extends { readonly id: string; readonly title: string | null }>(
  command: T,
): T {
  const { title, description } = chineseOf(command.id) ?? {}
  return title === undefined ? command : { ...command, title, description }
}

/** The description of a parameter in the language of the reader; undefined where that of the platform is shown. */
export function parameterDescription(id: string, name: string): string | undefined {
  return chineseOf(id)?.params?.[name]
}

function chineseOf(id: string): BuiltInWords | undefined {
  return language.value === 'zh' ? BUILT_IN_ZH[id] : undefined
}
