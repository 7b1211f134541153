import { isAlertVariable, singleLine, type AlertVariables } from './variables.ts'

const MAX_VALUE_LENGTH = 512
const MISSING = '-'

const VARIABLE = /\$\{([^{}]*)\}/g

/** Replaces the variables of a template that `isAlertTemplate` has accepted. */
export function renderTemplate(text: string, variables: AlertVariables): string {
  return text.replace(VARIABLE, (whole, name: string) =>
    isAlertVariable(name) ? singleLine(variables[name] ?? '', MAX_VALUE_LENGTH) || MISSING : whole,
  )
}
