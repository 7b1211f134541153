import { randomBytes } from 'node:crypto'

/** An id as the drive makes them: 40 hexadecimal digits. */
export const randomId = (): string => randomBytes(20).toString('hex')
