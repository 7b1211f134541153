import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSecretName } from './secret-names.ts'

const SECRET_NAMES = (
  'password PASSWORD Passwd user_password passwordConfirmation newPassword password2 passphrase pwd secret jwt_secret ' +
  'jwtSecret JWT-SECRET client_secret clientSecret token access_token accessToken refresh-token id_token csrfToken ' +
  'x-auth-token tokens token_value authorization Proxy-Authorization cookie Set-Cookie set_cookie cookies api_key ' +
  'apiKey X-API-Key private_key privateKey signing-key encryptionKey jwt hash password_hash passwordHash pem key_pem ' +
  'proof proof_code code_verifier codeVerifier client_assertion credential credentials webhook webhook_url webhookUrl ' +
  'robot_url robot.url smtp_pass_secret pass otp pin authorization_code device_code salt tokenStorage token_params ' +
  'token_admin passwordMessage bearer nkey'
).split(' ')

const OPEN_NAMES = (
  'token_type tokens_total token_count token_ttl tokenType password_changed_at passwordMinLength token_endpoint code ' +
  'error_code status key key_id name url path user user_id session_id request_id message content_hash sha256 ' +
  'idempotency_key author robot robot_kind secret_name private_key_file cookie_count monkey hashed duration_ms state'
).split(' ')

test('names of secrets are recognized in any spelling', () => {
  assert.deepEqual(
    SECRET_NAMES.filter((name) => !isSecretName(name)),
    [],
  )
})

test('names of data about secrets are not', () => {
  assert.deepEqual(
    OPEN_NAMES.filter((name) => isSecretName(name)),
    [],
  )
})
