import { isAlertVariable, singleLine, type AlertVariables } from './variables.ts'

const MAX_VALUE_LENGTH = 512
const MISSING = '-'

const VARIABLE = /\$\{([^{}]*)\}/g

/** Replaces the variables of a template that `isAlertTemplate` has accepted. */
export function renderTemplate(text: string, variables: AlertVariables): string {
  return text.replace(VARIABLE, (whole, name: string) =>
    isAlertVariable(name) ? valueOf(variables[name]) : whole,
  )
}

function valueOf(given = ''): string {
  return singleLine(given, MAX_VALUE_LENGTH) || MISSING
}
