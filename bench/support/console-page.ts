// Runs in a page of the browser: each function is sent there as text, so it uses nothing of this module.

/** What these functions use of the page. */
interface PageElement {
  readonly textContent: string
  click(): void
}
declare const document: { querySelector(selector: string): PageElement | null }
declare const history: { back(): void }
declare const requestAnimationFrame: (run: () => void) => void

/** The milliseconds from the start of the navigation until the element is there; 0 while it is not. */
export function shownAfter(selector: string): number {
  return document.querySelector(selector) ? performance.now() : 0
}

export interface Step {
  /** What is clicked; without it, the way back in the history of the browser. */
  readonly control?: string
  /** What has another text as soon as the page has changed. */
  readonly sign: string
}

/** The milliseconds from an action until a frame that shows the change. */
export function timeStep({ control, sign }: Step): Promise<number> {
  const limitMs = 60_000
  const element = control === undefined ? undefined : document.querySelector(control)
  if (element === null) throw new Error(`the page has no ${control}`)
  const read = () => document.querySelector(sign)?.textContent
  const before = read()
  const start = performance.now()
  if (element) element.click()
  else history.back()
  return new Promise((resolve, reject) => {
    const look = () => {
      const now = read()
      if (now !== undefined && now !== before) requestAnimationFrame(() => resolve(performance.now() - start))
      else if (performance.now() - start < limitMs) requestAnimationFrame(look)
      else reject(new Error(`${control ?? 'the way back'} did not change ${sign} in ${limitMs} ms`))
    }
    look()
  })
}

export interface FrameCount {
  readonly perSecond: number
  readonly longestMs: number
}

/** Counts the frames of that time. */
export function countFrames(forMs: number): Promise<FrameCount> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      const start = performance.now()
      let previous = start
      let frames = 0
      let longestMs = 0
      const onFrame = () => {
        const now = performance.now()
        frames++
        longestMs = Math.max(longestMs, now - previous)
        previous = now
        if (now - start < forMs) requestAnimationFrame(onFrame)
        else resolve({ perSecond: (frames * 1_000) / (now - start), longestMs })
      }
      requestAnimationFrame(onFrame)
    })
  })
}
