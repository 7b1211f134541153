import { cluster } from './cluster.ts'
import { shortForm } from './support/short-form.ts'

shortForm(cluster)
