import { paymentStorm } from './payment-storm.ts'
import { shortForm } from './support/short-form.ts'

shortForm(paymentStorm)
