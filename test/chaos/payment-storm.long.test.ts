import { paymentKills } from './payment-kills.ts'
import { shortForm } from './support/short-form.ts'

shortForm(paymentKills)
