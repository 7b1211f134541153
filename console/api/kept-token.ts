const KEY = 'platform.token'

/** The token of this tab: it survives a reload, and ends with the tab. */
export const keptToken = {
  read(): string | null {
    return attempt(() => sessionStorage.getItem(KEY)) ?? null
  },
  write(token: string): void {
    attempt(() => sessionStorage.setItem(KEY, token))
  },
  clear(): void {
    attempt(() => sessionStorage.removeItem(KEY))
  },
}

/** Ignores that a browser stores nothing for the page: the user only has to sign in again after a reload. */
function attempt<T>(use: () => T): T | undefined {
  try {
    return use()
  } catch {
    return undefined
  }
}
