import { AwsClient } from 'aws4fetch'
import t from 'tap'
import { createMedia, s3Storage } from './index.ts'
import { presign } from './presign.ts'

const credentials = {
  region: 'eu-central-1',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
}
const url = 'https://s3.example.org:9000/tandem-private/private/01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e0f.webp'

t.test('a URL is signed as the S3 client signs it, valid for an hour from the start of the half-hour window', async (t) => {
  const now = Date.UTC(2026, 0, 31, 8, 40, 12, 345)
  const signed = presign(url, credentials, now)
  t.match(signed, /X-Amz-Date=20260131T083000Z&X-Amz-Expires=3600&/)
  t.equal(presign(url, credentials, now + 19 * 60_000), signed, 'stable within the window, so that caches can reuse it')
  t.not(presign(url, credentials, now + 20 * 60_000), signed)

  const client = new AwsClient({ ...credentials, service: 's3' })
  const request = await client.sign(`${url}?X-Amz-Expires=3600`, {
    aws: { signQuery: true, datetime: '20260131T083000Z' }
  })
  const [own, theirs] = [signed, request.url].map((each) => Object.fromEntries(new URL(each).searchParams))
  t.same(own, theirs)
})

t.test('with S3 the URL of a private image belongs to the store and maps back to its key', (t) => {
  const media = createMedia({
    storage: s3Storage({ endpoint: 'https://s3.example.org:9000/', bucket: 'tandem-private', ...credentials }),
    cdnUrl: 'https://cdn.example',
    ownUrlsOnly: true
  })
  const key = 'private/01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e0f.webp'
  const signed = media.urlOf(key)
  t.ok(signed.startsWith(`${url}?X-Amz-Algorithm=AWS4-HMAC-SHA256&`))
  t.equal(media.toStoredValue(signed), key)
  t.ok(media.isAllowedUrl(signed))
  t.equal(media.urlOf(key.replace('private', 'public')), `https://cdn.example/${key.replace('private', 'public')}`)
  t.end()
})
