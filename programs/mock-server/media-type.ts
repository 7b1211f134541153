export const FORM_TYPE = 'application/x-www-form-urlencoded'
export const JSON_TYPE = 'application/json'

/** The media type in a `Content-Type` header, in lower case and without parameters such as `; charset=utf-8`. */
export function mediaType(contentType = ''): string {
  const semicolon = contentType.indexOf(';')
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
}
