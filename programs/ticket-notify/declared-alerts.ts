/** The alert of the ticket notifier, for `docs/reference/alerts.md`. It needs only Node.js, so no type is imported. */
export const TICKET_NOTIFY_ALERTS = {
  'ticket-notify.state': {
    severities: ['HIGH'],
    raisedBy: 'The state file of the ticket notifier is unreadable.',
    endedBy: 'The next round that reads its state file.',
    whatToDo:
      'Check the list of tickets: changes since the round before were not notified. Look at the kept file.',
  },
} as const
