/**
 * The heads of the public lists of leaked passwords, as what remains of them without the digits and signs around
 * them: shorter ones count because people make them long enough with just those.
 */
const WORDS = `
  abc abcdef access account admin administrator amanda andrea andrew angel anthony apple asdf asdfgh
  asdfghjkl ashley austin azerty azertyuiop bailey baseball basketball batman biteme blink buster butterfly
  changeit changeme changemenow charlie cheese chelsea chocolate computer cookie correcthorsebatterystaple
  daniel default donald dragon eminem facebook family flower football forever freedom friends fuckyou george
  ginger google guest hannah harley hello helloworld hockey hottie hunter iloveyou iloveyouforever
  iloveyousomuch internet jasmine jennifer jessica jesus jordan joshua justin killer killme letmein
  letmeinnow liverpool love lovely loveme loveyou maggie manchester manchesterunited marina master masterkey
  matrix matthew maverick melissa merlin michael michelle mickey monkey mustang mynoob mypassword mysecret
  nicole ninja nothing oauth oracle orange pass passphrase passw passwd password passwords passwort patrick
  peanut pepper player pokemon princess purple qazwsx qazwsxedc qazwsxedcrfv qwer qwert qwerty qwertyui
  qwertyuiop qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qwertz qwertzuiop ranger robert root samantha
  samsung secret secretpassword server service shadow silver snoopy soccer sophie spiderman starwars
  steelers summer sunshine super superman superuser support taylor test tester testing thomas thunder tigger
  tinkerbell toor trustno trustnoone tweety twitter user username vagrant victoria welcome welcomehome
  whatever william windows winter wordpass wordpress yankees yellow zaqwsx zxcvbn zxcvbnm
`

/** Written with digits in their middle, or of digits alone. */
const KEYBOARD_WALKS = `
  !qaz2wsx !qaz2wsx3edc 0123456789 0987654321 12345 123456 1234567 12345678 123456789 1234567890
  123456789012 12345678910 1234567891011 123456789101112 1234qwer 1234qwerasdf 123qwe 123qweasd 123qweasdzxc
  12qwaszx 147258369 159753 192837465 1a2b3c4d 1a2b3c4d5e 1a2b3c4d5e6f 1q2w3e 1q2w3e4r 1q2w3e4r5t
  1q2w3e4r5t6y 1qaz2wsx 1qaz2wsx3edc 1qaz2wsx3edc4rfv 54321 654321 741852963 789456 789456123 87654321
  987456321 987654321 9876543210 a1b2c3d4 a1b2c3d4e5 a1b2c3d4e5f6 a1s2d3f4g5h6 abc123def456 abcd1234
  abcd1234abcd abcdefghijkl abcdefghijklm abcdefghijklmnop abcdefghijklmnopqrstuvwxyz asdf1234 asdf1234qwer
  iloveyou2much pass1234word q1w2e3r4 q1w2e3r4t5 q1w2e3r4t5y6 q2w3e4r5t6y7 qwe123asd456 qweasdzxc
  qweasdzxc123 qwer1234 qwer1234asdf qwer1234qwer trustno1 zaq12wsx zaq12wsxcde3 zaq1xsw2 zaq1xsw2cde3
`

/** Lower case. */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `${WORDS} ${KEYBOARD_WALKS}`.split(/\s+/).filter(Boolean),
)
