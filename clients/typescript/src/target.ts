/** The parameters that are part of an address; one that is undefined is not sent. */
export interface TargetParameters {
  readonly path?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
}

/** What a parameter of a query may be; a list has commas between its values. */
type QueryValue = string | number | boolean | readonly string[]

/** The path and the query of a call: `/orders/{order_id}` becomes `/orders/a?limit=1`. */
export function targetOf(template: string, { path = {}, query = {} }: TargetParameters): string {
  const pathname = template.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(path[key] ?? ''))
  const search = new URLSearchParams(
    (Object.entries(query) as [string, QueryValue | undefined][]).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, String(value)]],
    ),
  ).toString()
  return search ? `${pathname}?${search}` : pathname
}
