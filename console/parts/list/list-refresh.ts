import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** Reads the list again beside which an object is shown. */
export const ListRefresh = createContext<() => void>(() => {})

/** A change of the object calls it: the list then shows the change before its event comes. */
export function useListRefresh(): () => void {
  return useContext(ListRefresh)
}
