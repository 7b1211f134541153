/** The roles that may report alerts. */
export const ALERT_REPORTERS = ['admin', 'service', 'devops'] as const

/** The roles that may read alerts, their decisions and their events. */
export const ALERT_READERS = ['admin', 'devops', 'auditor', 'service'] as const

/** The roles that may change alerts and silences. */
export const ALERT_OPERATORS = ['admin', 'devops'] as const
