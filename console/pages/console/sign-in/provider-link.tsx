import { hasProvider, providerAddress } from '../provider.ts'
import { signInPageWords } from './words.ts'

/** The way to sign in with the OpenID provider, if one is configured. */
export function ProviderLink() {
  if (!hasProvider()) return null
  return (
    <a class="button provider-link" href={providerAddress()}>
      {signInPageWords().withProvider}
    </a>
  )
}
