import { hasForbiddenVariable } from '../../../src/kernel/allowed-text.ts'
import { ALERT_VARIABLES, isAlertVariable, singleLine, type AlertVariables } from './variables.ts'

/** The texts of an alert. A text that is left out is the built-in one. */
export interface AlertTemplate {
  readonly title?: string
  readonly body?: string
}

const MAX_TEMPLATE_LENGTH = 4_096
const MAX_VALUE_LENGTH = 512
const MISSING = '-'

// The end is optional, so that a variable without one is found as well.
const VARIABLE = /\$\{([^{}]*)(\}?)/g

/** What is wrong with a text of a template, in one clause; undefined if it can be used. */
export function templateProblem(text: string): string | undefined {
  if (text.trim() === '') return 'is empty'
  if (text.length > MAX_TEMPLATE_LENGTH) return `has more than ${MAX_TEMPLATE_LENGTH} characters`
  if (hasForbiddenVariable(text)) return 'has ${token} or ${password}, which are not allowed in an alert'
  for (const [, name = '', end] of text.matchAll(VARIABLE)) {
    if (end === '') return 'has a variable without its closing brace'
    if (!isAlertVariable(name))
      return `has the unknown variable ${singleLine(`\${${name}}`, 64)}; expected one of ${ALERT_VARIABLES.join(', ')}`
  }
  return undefined
}

/** Replaces the variables of a template that {@link templateProblem} has accepted. */
export function renderTemplate(text: string, variables: AlertVariables): string {
  return text.replace(VARIABLE, (whole, name: string) =>
    isAlertVariable(name) ? valueOf(variables[name]) : whole,
  )
}

function valueOf(given = ''): string {
  return singleLine(given, MAX_VALUE_LENGTH) || MISSING
}
