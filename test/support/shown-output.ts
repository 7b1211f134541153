import assert from 'node:assert/strict'

/** Whether a program has printed what a document shows; `…` stands for anything on a line. */
export function patternOf(output: string): RegExp {
  return new RegExp(`^${plain(output).split('…').map(RegExp.escape).join('.*')}$`)
}

/** Ids and times by their kind. */
export function plain(text: string): string {
  return text
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<id>')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b/g, '<time>')
}

/** The password of the administrator that the first start prints. */
export function firstPassword(stderr: string): string {
  const password = /with the password (\S+)/.exec(stderr)?.[1]
  assert.ok(password, 'the first start tells the password')
  return password
}
