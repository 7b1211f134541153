/** An address without the slashes at its end, so that a path can follow: `http://host:9990/` → `http://host:9990`. */
export function urlBase(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end--
  return url.slice(0, end)
}
