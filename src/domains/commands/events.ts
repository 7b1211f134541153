/** docs/specification.md, Events */
export const COMMAND_EVENTS = {
  requested: 'command.requested',
  decided: 'command.decided',
  finished: 'command.finished',
} as const
