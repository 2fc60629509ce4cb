// Walks two accounts through the system, as their apps would: registration, email, onboarding, a post, a like, and the
// push notification that it causes.
import { setTimeout as sleep } from 'node:timers/promises'

const [gateway, mailbox] = process.argv.slice(2)
const base = `${gateway}/api/mobile/v1`

await until(
  'the gateway is ready',
  async () =>
    (await (await fetch(`${gateway}/health/ready`, { signal: AbortSignal.timeout(2_000) })).json()).degraded === false
)
const ana = await join('Ana')
const ben = await join('Ben')

await call(ana, 'POST', '/onboarding/save-profile', {
  communityRulesAccepted: true,
  name: 'Ana Putri',
  gender: 'FEMALE',
  birthDate: '1998-04-12',
  subStep: 8,
  completed: true
})
await call(ana, 'POST', '/onboarding/save-preferences', { workoutFrequency: 3, completed: true })
await call(ana, 'POST', '/onboarding/save-permissions', { locationEnabled: false, pushNotifications: true })
const { user } = await call(ana, 'GET', '/auth/me')
expect(user.profile?.onboardingCompleted === true, 'onboarding is not completed')

await call(ana, 'POST', '/notifications/push', { token: `token-${ana.id}`, platform: 'android' })
const { data: { post } } = await call(ana, 'POST', '/feed', { type: 'TEXT', content: 'Good morning #running' })
await call(ben, 'POST', `/feed/${post.id}/like`)
await until('Ana has a notification of the like', async () => {
  const { data: { notifications } } = await call(ana, 'GET', '/notifications')
  return notifications.some(({ type }) => type === 'SOCIAL_FEED')
})
await until('Ana has a push notification of the like', async () => {
  const { data: { deliveries } } = await call(ana, 'GET', '/notifications/push/log')
  return deliveries.some(({ type, status }) => type === 'SOCIAL_FEED' && status === 'sent')
})
console.log('walked: registration, mail, onboarding, post, like, notification, push')

async function join (name) {
  const email = `${name.toLowerCase()}.${Date.now()}@example.com`
  const { accessToken, user: { id } } = await call({}, 'POST', '/auth/register', {
    email,
    name,
    password: 'Correct-horse-7'
  })
  const person = { id, accessToken }
  const code = await until(`${name} has mail`, async () => /\b\d{6}\b/.exec(await newestMailTo(email))?.[0])
  await call({}, 'POST', '/auth/verify-email', { userId: id, code })
  return person
}

/** The text of a mail, from Mailpit, or from MailDev with its older API. */
async function newestMailTo (email) {
  const search = await fetch(`${mailbox}/api/v1/search?query=${encodeURIComponent(`to:${email}`)}`)
  if (search.ok && search.headers.get('content-type')?.includes('json')) {
    const [message] = (await search.json()).messages
    return message ? message.Subject : ''
  }
  const mails = await (await fetch(`${mailbox}/email`)).json()
  return mails.find(({ to }) => to.some(({ address }) => address === email))?.subject ?? ''
}

async function call ({ accessToken }, method, path, body) {
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(accessToken && { authorization: `Bearer ${accessToken}` })
    },
    body: body && JSON.stringify(body)
  })
  const answer = await response.json()
  expect(answer.success, `${method} ${path} failed with ${response.status} ${answer.code}: ${answer.error}`)
  return answer
}

async function until (what, probe) {
  for (let tries = 0; tries < 300; tries++) {
    const found = await probe().catch(() => undefined)
    if (found) return found
    await sleep(200)
  }
  expect(false, `still not true after a minute: ${what}`)
}

function expect (condition, message) {
  if (condition) return
  console.error(message)
  process.exit(1)
}
