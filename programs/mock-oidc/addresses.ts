// The characters that RFC 3986, section 3.2, allows before the path, then visible ASCII without `#` and `\`. Anything else
// would change in a Location header, or could not be sent in one.
const HTTP_URL = /^https?:\/\/[\w.~!$&'()*+,;=%:@[\]-]+(?:[/?][!"$-[\]-~]*)?$/i

/** An absolute http(s) URL without a fragment, as a redirect needs (RFC 6749, section 3.1.2). */
export function isRedirectUri(text: string): boolean {
  return HTTP_URL.test(text) && URL.canParse(text)
}

/** Whether a text is such a URL without a query: endpoint paths are appended to it (OIDC Discovery, section 3). */
export function isIssuerUrl(text: string): boolean {
  return isRedirectUri(text) && !text.includes('?')
}

/** Replaces port 0, which lets the system choose, with the chosen port. */
export function withRealPort(url: string, port: number): string {
  return new URL(url).port === '0' ? url.replace(/:0+(?=\/|$)/, `:${port}`) : url
}

/** Appends the parameters to the query of the URL; undefined ones are left out. */
export function withQuery(
  url: string,
  parameters: readonly (readonly [string, string | undefined])[],
): string {
  let text = url
  for (const [name, value] of parameters) {
    if (value === undefined) continue
    text += `${separatorAfter(text)}${name}=${encodeURIComponent(value)}`
  }
  return text
}

function separatorAfter(text: string): string {
  if (!text.includes('?')) return '?'
  return text.endsWith('?') || text.endsWith('&') ? '' : '&'
}
