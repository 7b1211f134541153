import { shortForm } from './support/short-form.ts'
import { twoServers } from './two-servers.ts'

shortForm(twoServers)
