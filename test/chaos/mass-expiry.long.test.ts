import { massExpiry } from './mass-expiry.ts'
import { shortForm } from './support/short-form.ts'

shortForm(massExpiry)
