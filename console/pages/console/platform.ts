import { browserTiming, fetchHere } from '../../api/browser.ts'
import { createDownloader, createListDownloader } from '../../api/download.ts'
import { keptToken } from '../../api/kept-token.ts'
import { LiveEvents } from '../../api/live.ts'
import { createCaller } from '../../api/operations.ts'
import { ConsoleSession } from '../../api/session.ts'
import { CONSOLE_PATH } from './view.ts'

const onRefused = (token: string) => session.refuse(token)

/** Who uses this page. */
export const session = new ConsoleSession(keptToken, () => location.assign(CONSOLE_PATH))

const caller = { fetch: fetchHere, token: () => session.token.peek(), onRefused }

/** Calls the API as the user. */
export const call = createCaller(caller)

/** Fetches a file as the user. */
export const download = createDownloader(caller)

/** Fetches a whole list as the user. */
export const downloadList = createListDownloader(caller)

/** The events that the user may read. */
export const live = new LiveEvents({
  fetch: fetchHere,
  wait: browserTiming.wait,
  onRefused,
  onError: (error) => reportError(error),
})
