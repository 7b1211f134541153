import lazy from 'preact-iso/lazy'
import { browserTiming } from '../../api/browser.ts'
import { pauseAfter } from '../../api/poll.ts'
import type { ViewProps } from './view.ts'

type PageComponent = (props: ViewProps) => preact.VNode

/** A page that is loaded when it is opened, and as soon as the platform can be reached. */
export function lazyPage(load: () => Promise<PageComponent>): PageComponent {
  return lazy(() => loadUntilThere(load))
}

async function loadUntilThere<T>(load: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await load()
    } catch {
      await browserTiming.wait(pauseAfter(failures), NEVER)
    }
  }
}

const NEVER = new AbortController().signal
