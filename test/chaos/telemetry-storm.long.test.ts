import { shortForm } from './support/short-form.ts'
import { telemetryStorm } from './telemetry-storm.ts'

shortForm(telemetryStorm)
