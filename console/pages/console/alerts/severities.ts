import { VALUES } from '../../../api/generated.ts'
/** The severities of alerts that are not closed, the most severe first. */
export const LISTED_SEVERITIES = VALUES.explainAlertRoute.severity.filter((each) => each !== 'CLOSE')

/** Apart from the other words of alerts, because every page can show a notice of an alert. */
export const SEVERITY_WORDS = {
  en: {
    CRITICAL: 'Critical',
    HIGH: 'High',
    ERROR: 'Error',
    WARNING: 'Warning',
    INFO: 'Info',
    CLOSE: 'Closed',
  },
  zh: {
    CRITICAL: '严重',
    HIGH: '高',
    ERROR: '错误',
    WARNING: '警告',
    INFO: '信息',
    CLOSE: '已关闭',
  },
}
