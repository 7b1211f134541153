import { useLocation } from 'preact-iso/router'
import { useRef } from 'preact/hooks'
import { pathOf } from '../view.ts'

const PATH = pathOf({ name: 'menus' })

const SELECTED_ROW = '[role="treeitem"][aria-selected="true"]'
const FOCUSED_ROW = '[role="treeitem"]:focus'

/** Opens and closes a menu. One that is chosen by mouse leaves the focus in the tree, so that the keys move it. */
export function useOpenMenu() {
  const { route } = useLocation()
  const isChosenByMouse = useRef(false)
  return {
    open(id: string, isByMouse = false) {
      isChosenByMouse.current = isByMouse
      route(`${PATH}/${encodeURIComponent(id)}`)
    },
    close() {
      route(PATH)
      document.querySelector<HTMLElement>(SELECTED_ROW)?.focus()
    },
    /** A narrow window hides the tree. */
    leavesFocus(): boolean {
      return isChosenByMouse.current && document.querySelector(FOCUSED_ROW)?.checkVisibility() === true
    },
  }
}
