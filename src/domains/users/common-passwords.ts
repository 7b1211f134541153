/**
 * Common passwords that the public list does not contain, without the digits and signs around them: examples from
 * documentation, defaults of server software, sequences of the alphabet and of keyboards.
 */
const OTHERS = `
  abc abcdef changemenow correcthorsebatterystaple iloveyouforever iloveyousomuch manchesterunited mynoob oauth
  passphrase qwer qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qwertz qwertzuiop secretpassword superuser toor
  twitter vagrant welcomehome wordpress
  !qaz2wsx3edc 0123456789 0987654321 1234567891011 123456789101112 1a2b3c4d5e6f 54321 654321 87654321 987654321
  9876543210 a1b2c3d4e5f6 abc123def456 abcd1234abcd abcdefghijkl abcdefghijklm abcdefghijklmnop
  abcdefghijklmnopqrstuvwxyz asdf1234qwer iloveyou2much pass1234word q2w3e4r5t6y7 qwe123asd456 qwer1234asdf
  qwer1234qwer
`

let loading: Promise<ReadonlySet<string>> | undefined

/** Common passwords in lower case. Loaded at the first call, because they take 3 MiB and some time. */
export function commonPasswords(): Promise<ReadonlySet<string>> {
  loading ??= load()
  return loading
}

async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set([...dictionary['passwords-common'], ...OTHERS.trim().split(/\s+/)])
}
