import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** Reads the list again that stands beside the object. */
export const ListRefresh = createContext<() => void>(() => {})

/** What to call after a change of the object, so that the list shows the change before its event comes. */
export function useListRefresh(): () => void {
  return useContext(ListRefresh)
}
