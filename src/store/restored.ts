/** What a snapshot contains, table by table. */
export interface InspectedSnapshot {
  /** The last migration; empty when the database has no list of migrations. */
  readonly schemaVersion: string
  /** The rows of each table, and a hash of them as 64 hexadecimal digits. */
  readonly tables: Readonly<Record<string, { readonly rows: number; readonly hash: string }>>
}

/** What a check of a restored file has found. */
export interface RestoredFinding {
  /** In one sentence. */
  readonly detail: string
  /** Whether a file of this format allows the check; without it the detail says why not. */
  readonly isPossible: boolean
}

/** The checks of a restored file. Each rejects with `snapshot_damaged`, whose message says what is wrong. */
export interface RestoredFile {
  opens(): Promise<RestoredFinding>
  integrity(): Promise<RestoredFinding>
  foreignKeys(): Promise<RestoredFinding>
  /** The number of rows of each table. */
  rowCounts(): Promise<Readonly<Record<string, number>>>
  contents(): Promise<InspectedSnapshot>
}
