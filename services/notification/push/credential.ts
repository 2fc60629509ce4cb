import { readFile } from 'node:fs/promises'
import { JWT } from 'google-auth-library'
import { ConfigError } from '@tandem/service-kit'

/** Proves to Google who we are. */
export interface Credential {
  readonly projectId: string
  /** A token good for a while, asked for once by however many need it. */
  token (): Promise<string>
  /** Has the next call of `token` ask anew, unless somebody else had it do so since `refused` was given out. */
  renew (refused: string): void
}

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'
const WITHIN = 10_000

/** @throws ConfigError when the file is no service account */
export async function readCredential (file: string): Promise<Credential> {
  const account = await readAccount(file)
  let client = createClient(account)
  let current = ''
  return {
    projectId: account.project_id,
    async token () {
      const { token } = await client.getAccessToken()
      if (!token) throw new Error('Google gave no access token')
      current = token
      return token
    },
    renew (refused) {
      if (refused !== current) return
      current = ''
      client = createClient(account)
    }
  }
}

interface ServiceAccount { project_id: string, client_email: string, private_key: string, private_key_id?: string, token_uri: string }

async function readAccount (file: string): Promise<ServiceAccount> {
  try {
    const account = JSON.parse(await readFile(file, 'utf8')) as Partial<ServiceAccount>
    const { project_id, client_email, private_key, private_key_id, token_uri = 'https://oauth2.googleapis.com/token' } = account
    if (!project_id || !client_email || !private_key || !URL.canParse(token_uri)) throw new Error('it holds no service account')
    return { project_id, client_email, private_key, token_uri, ...private_key_id && { private_key_id } }
  } catch (error) {
    throw new ConfigError(`FCM_SERVICE_ACCOUNT_FILE cannot be read: ${(error as Error).message}`)
  }
}

function createClient ({ client_email, private_key, private_key_id, token_uri }: ServiceAccount) {
  const client = new JWT({
    email: client_email,
    key: private_key,
    ...private_key_id && { keyId: private_key_id },
    scopes: [SCOPE],
    additionalClaims: { aud: token_uri },
    transporterOptions: { timeout: WITHIN }
  })
  // The library knows one address for tokens; the file may name another.
  client.transporter.interceptors.request.add({
    resolved: async (request) => {
      request.url = new URL(token_uri)
      return request
    }
  })
  return client
}
