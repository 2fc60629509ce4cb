import { createHash, createHmac } from 'node:crypto'
import { SIGNATURE_TTL_SECONDS, windowStartSeconds } from '@tandem/media-url-kit'

interface Credentials {
  region: string
  accessKeyId: string
  secretAccessKey: string
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/**
 * The URL of an S3 object that is readable without credentials for 30 to 60 minutes: signature version 4 in the query.
 * The signing time is the start of the window, so the URL stays the same for half an hour. aws4fetch can sign too, but
 * only asynchronously.
 */
export function presign (url: string, { region, accessKeyId, secretAccessKey }: Credentials, nowMs = Date.now()) {
  const time = new Date(windowStartSeconds(nowMs) * 1_000).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const { host, pathname } = new URL(url)
  const query = new URLSearchParams([
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
    ['X-Amz-Credential', `${accessKeyId}/${scope}`],
    ['X-Amz-Date', time],
    ['X-Amz-Expires', String(SIGNATURE_TTL_SECONDS)],
    ['X-Amz-SignedHeaders', 'host']
  ]).toString()
  const request = `GET\n${pathname}\n${query}\nhost:${host}\n\nhost\nUNSIGNED-PAYLOAD`
  const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash('sha256').update(request).digest('hex')}`
  const key = scope.split('/').reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`)
  return `${url}?${query}&X-Amz-Signature=${hmac(key, text).toString('hex')}`
}
