/** What a command did with one file or directory. */
export interface InstalledEntry {
  /** On this host, below `--root` if there is one; the name of a unit that was enabled or disabled. */
  readonly path: string
  readonly result:
    | 'written'
    | 'replaced'
    | 'created'
    | 'enabled'
    | 'unchanged'
    | 'left'
    | 'disabled'
    | 'removed'
  /** Why, where the result needs a reason. */
  readonly note?: string
}
