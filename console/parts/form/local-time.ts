/** The latest time that an input takes: with it the year has four digits, and the browser goes on to the next part. */
export const LATEST_INPUT = '9999-12-31T23:59'

/** A time of the API as `<input type="datetime-local">` wants it: in the time zone of the reader, to the minute. */
export function toLocalInput(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return ''
  const pad = (value: number, length = 2) => String(value).padStart(length, '0')
  const day = `${pad(date.getFullYear(), 4)}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}`
}
