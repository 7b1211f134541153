// Matched against a name in lower case without separators: `Set-Cookie`, `setCookie` and `set_cookie` are one.
const SECRET_ANYWHERE =
  /passw(?:or)?d|passphrase|passcode|pwd|secret|credential|authorization|cookie|token|jwt|bearer|apikey|privatekey|signingkey|accesskey|encryptionkey|assertion|verifier|proof|(?:auth|device|user|recovery)code/
const SECRET_ENDING =
  /(?:hash|pem|salt|jwk|nkeyseed|creds|keypair)$|^(?:pass|pin|otp|totp|psk|nkey)$|webhook$|(?:robot|hook)(?:url|uri|href|address|endpoint|link|path|key)$/
const PUBLIC_HASH = /(?:content|file|body|pre|commit|git|schema|config|archive|snapshot|sha\d+)hash$/
// The last word says what the value is: `token_type` and `password_changed_at` hold no secret.
const HARMLESS_LAST_WORDS = new Set(
  (
    'type types total count ttl expiry expires at age length size bytes limit min max seconds ms file name ' +
    'iterations algorithm alg version status state kind endpoint policy remaining'
  ).split(' '),
)

/** Whether a value under this name is a secret, whatever the case and the separators of the name. */
export function isSecretName(name: string): boolean {
  const letters = name.toLowerCase().replace(/[^a-z0-9]+/g, '')
  if (SECRET_ENDING.test(letters)) return !PUBLIC_HASH.test(letters)
  return SECRET_ANYWHERE.test(letters) && !HARMLESS_LAST_WORDS.has(lastWord(name))
}

function lastWord(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').match(/[a-z0-9]+/gi)
  return words?.at(-1)?.toLowerCase() ?? ''
}
