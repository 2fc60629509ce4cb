import t from 'tap'
import { createUrlSigner, isMediaKey } from './index.ts'

const key = 'private/01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e0f.webp'
const [secret, former] = ['s'.repeat(32), 'f'.repeat(32)]
const startedAt = Date.UTC(2026, 0, 31, 8, 10)
const query = (text: string) => Object.fromEntries(new URLSearchParams(text))

t.test('a signature is valid for its image, for at most an hour, and is stable for half an hour', (t) => {
  let now = startedAt
  const signer = createUrlSigner(secret, () => now)
  const signed = signer.sign(key)
  t.equal(signer.verify(key, query(signed)), 50 * 60)
  now = startedAt + 19 * 60_000
  t.equal(signer.sign(key), signed)
  now = startedAt + 21 * 60_000
  t.not(signer.sign(key), signed)
  t.ok(signer.verify(key, query(signed)))
  now = startedAt + 50 * 60_000 - 1_000
  t.equal(signer.verify(key, query(signed)), 1)
  now = startedAt + 50 * 60_000
  t.equal(signer.verify(key, query(signed)), undefined)
  t.end()
})

t.test('a signature of another image, a changed, extended, foreign or missing one is rejected', (t) => {
  const signer = createUrlSigner(secret, () => startedAt)
  const { expires, signature } = query(signer.sign(key))
  const later = String(Number(expires) + 3_600)
  for (
    const wrong of [
      {},
      { expires },
      { signature },
      { expires, signature: '' },
      { expires: later, signature },
      { expires, signature: `${signature}A` },
      { expires: [expires], signature },
      { expires: `${expires}e1`, signature },
      { expires: '-1', signature },
      { expires: 'NaN', signature },
      query(createUrlSigner(former, () => startedAt).sign(key)),
      // Even a correctly signed URL is valid for at most an hour.
      query(createUrlSigner(secret, () => startedAt + 3_600_000).sign(key))
    ]
  ) t.equal(signer.verify(key, wrong), undefined, JSON.stringify(wrong))
  t.equal(signer.verify(key.replace('0f.', '10.'), { expires, signature }), undefined)
  t.end()
})

t.test('rotating the secret never invalidates a URL', (t) => {
  const now = () => startedAt
  const [before, after] = [createUrlSigner(former, now), createUrlSigner(`${secret},${former}`, now)]
  t.ok(after.verify(key, query(before.sign(key))))
  t.ok(createUrlSigner(secret, now).verify(key, query(after.sign(key))), 'the new one signs')
  t.end()
})

t.test('media keys have one format', (t) => {
  t.ok(isMediaKey(key))
  t.ok(isMediaKey(key.replace('private', 'public')))
  for (
    const other of [
      `/${key}`,
      `${key}/`,
      key.toUpperCase(),
      key.replace('private/', 'private//'),
      key.replace('private/', 'public/../private/'),
      key.replace('.webp', '.png'),
      `${key}\n`
    ]
  ) t.notOk(isMediaKey(other), other)
  t.end()
})
