import type { Page } from 'playwright-core'

/** Roles that a reader of the page does something with, and so has to know by name. */
const NAMED_ROLES = [
  'button',
  'link',
  'textbox',
  'searchbox',
  'radio',
  'tree',
  'treeitem',
  'region',
  'table',
  'columnheader',
  'image',
]
// A table is named by the region around it.
const NAMELESS = new Set(['table'])

/** The roles of what has no name in the browser's accessibility tree. */
export async function namelessRoles(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  return nodes
    .filter(({ ignored, role }) => !ignored && NAMED_ROLES.includes(String(role?.value)))
    .filter(({ role }) => !NAMELESS.has(String(role?.value)))
    .filter(({ name }) => !String(name?.value ?? '').trim())
    .map(({ role }) => String(role?.value))
}

/** By how many pixels the page is wider than its window. */
export function sidewaysScroll(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}

export interface Contrast {
  readonly text: string
  /** As WCAG 2 defines it; 4.5 is enough for text of any size. */
  readonly ratio: number
}

/** The contrasts of the texts that these selectors find; text in a picture is on the ground of its card. */
export function contrasts(page: Page, selector: string): Promise<Contrast[]> {
  return page.evaluate((wanted) => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
    const channels = (color: string, over?: number[]) => {
      if (!canvas) throw new Error('no canvas')
      canvas.clearRect(0, 0, 1, 1)
      if (over) {
        canvas.fillStyle = `rgb(${over.join(' ')})`
        canvas.fillRect(0, 0, 1, 1)
      }
      canvas.fillStyle = color
      canvas.fillRect(0, 0, 1, 1)
      return [...canvas.getImageData(0, 0, 1, 1).data]
    }
    const groundOf = (element: Element): number[] => {
      const own = channels(getComputedStyle(element).backgroundColor)
      if (own[3] === 255 || !element.parentElement) return own.slice(0, 3)
      const below = groundOf(element.parentElement)
      return channels(getComputedStyle(element).backgroundColor, below).slice(0, 3)
    }
    const luminance = (rgb: number[]) => {
      const [r = 0, g = 0, b = 0] = rgb.map((value) => {
        const part = value / 255
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    return [...document.querySelectorAll(wanted)].map((element) => {
      const style = getComputedStyle(element)
      const ground = groundOf(element)
      const ink = channels(element instanceof SVGElement ? style.fill : style.color, ground).slice(0, 3)
      const [light = 0, dark = 0] = [luminance(ink), luminance(ground)].sort((a, b) => b - a)
      return { text: element.textContent.trim(), ratio: (light + 0.05) / (dark + 0.05) }
    })
  }, selector)
}
