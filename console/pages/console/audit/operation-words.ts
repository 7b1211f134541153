import { SUMMARIES } from '../../../api/generated-summaries.ts'
import { defineWords, language } from '../../../i18n/language.ts'
import { CHINESE_SUMMARIES } from './operations-zh.ts'

/** The operations that the audit trail has in addition to those of the API. */
const otherWords = defineWords({
  signIn: ['Sign in', '登录'],
  start: ['Start the platform with other settings', '以不同的设置启动平台'],
  disableWebhook: ['Disable a webhook that has failed for too long', '停用长时间失败的 Webhook'],
  pruneAudit: ['Delete old rows of the audit trail', '删除旧的审计记录'],
  command: [(line: string) => `Run: ${line}`, (line) => `运行：${line}`],
})

const COMMAND = 'cli.'

/** What an operation of the audit trail does, in the language of the reader; its name if it is not known. */
export function operationLabel(operation: string): string {
  const { command, ...others } = otherWords()
  if (operation.startsWith(COMMAND))
    return command(`platform ${operation.slice(COMMAND.length).replaceAll('.', ' ')}`)
  const words: Readonly<Record<string, string>> = {
    ...(language.value === 'zh' ? CHINESE_SUMMARIES : SUMMARIES),
    ...others,
  }
  return Object.hasOwn(words, operation) ? (words[operation] ?? operation) : operation
}

/** The operations by their names, to choose from. */
export const OPERATION_NAMES: readonly string[] = [
  ...Object.keys(otherWords()).filter((name) => name !== 'command'),
  ...Object.keys(CHINESE_SUMMARIES),
]
