/** What a command ends with. */
export interface CommandResult {
  /** docs/reference/commands.md: 0 done or nothing to do, 1 failed, 2 wrong usage or configuration. */
  readonly exitCode: 0 | 1 | 2
  /** The text for people: lines that each end with a newline. */
  readonly text: string
  /** For `--json`. */
  readonly json: object
}
