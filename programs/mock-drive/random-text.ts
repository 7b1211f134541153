import { randomBytes } from 'node:crypto'

/** 32 random characters of `A-Za-z0-9_-`: 192 bits. */
export const randomText = (): string => randomBytes(24).toString('base64url')

/** An id as the drive makes them: 40 hexadecimal digits. */
export const randomId = (): string => randomBytes(20).toString('hex')
