import { shortForm } from './support/short-form.ts'
import { webhookStorm } from './webhook-storm.ts'

shortForm(webhookStorm)
