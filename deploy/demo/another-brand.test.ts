import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { inviteInShell } from '@tandem/rehearsals/moderation-day/operators.ts'
import { withStack, type Stack } from '@tandem/rehearsals/kit/stack.ts'
import { until } from '@tandem/test-kit'
import t, { type Test } from 'tap'
import { fromBufferPromise } from 'yauzl'

// A team makes the app its own: a name, colours, a third language, a sport, a limit and a feature less, in a folder.

const email = 'ana@example.com'
const password = 'Correct-horse-7'
const builtIn = path.resolve(import.meta.dirname, '../../brand')
/** Names that no person sees: the subprotocol, the package, and the format of a copy of one's data. */
const TECHNICAL = /tandem\.v1|@tandem\/|"TANDEM"/g

function createBrand (t: Test) {
  const folder = t.testdir()
  cpSync(builtIn, folder, { recursive: true })
  const change = <Content>(file: string, work: (content: Content) => unknown) => {
    const name = path.join(folder, file)
    writeFileSync(name, JSON.stringify(work(JSON.parse(readFileSync(name, 'utf8')) as Content)))
  }
  change<{ colours: { light: object }, features: object, limits: object }>('brand.json', (brand) => ({
    ...brand,
    name: 'Fitly',
    legalName: 'Fitly Ltd',
    supportEmail: 'help@fitly.example',
    securityContact: 'mailto:security@fitly.example',
    fromAddress: 'Fitly <hello@fitly.example>',
    links: { terms: 'https://fitly.example/terms' },
    locales: ['en', 'id', 'es'],
    colours: { ...brand.colours, light: { ...brand.colours.light, accent: '#9a2617' } },
    features: { ...brand.features, fasting: false },
    limits: { ...brand.limits, freeSwipesPerDay: 20 }
  }))
  change<object[]>('options/sport.json', (sports) => [
    { id: 'curling', icon: '🥌', category: 'outdoor', sortOrder: 0 },
    ...sports
  ])
  for (const [locale, label] of [['en', 'Curling'], ['id', 'Curling es'], ['es', 'Curling sobre hielo']]) {
    change<object>(`texts/${locale}.json`, (texts) => ({ ...texts, 'options.sport.curling': label }))
  }
  return folder
}

interface Mail {
  from: string
  subject: string
  text: string
  html: string
}

const mailsOf = async ({ mail }: Stack) => await (await fetch(`${mail.url}/api/mails`)).json() as Mail[]

/** What `read` returns as soon as it is something. */
async function eventually<Value> (read: () => Promise<Value | undefined>) {
  let value: Value | undefined
  await until(async () => {
    value = await read()
    return value !== undefined
  })
  return value!
}

const spanish = { 'accept-language': 'es-MX' }

/** A person of the app, who reads Spanish. */
async function join (stack: Stack) {
  let token = ''
  const send = async (method: string, route: string, body?: object): ReturnType<typeof read> => {
    const response = await fetch(`${stack.gateway.url}/api/mobile/v1${route}`, {
      method,
      headers: {
        ...spanish,
        ...token && { authorization: `Bearer ${token}` },
        ...body && { 'content-type': 'application/json' }
      },
      ...body && { body: JSON.stringify(body) }
    })
    if (response.status !== 503) return await read(response)
    // Other tests run beside it, and apps repeat such a request.
    await sleep(1_000)
    return await send(method, route, body)
  }
  const read = async (response: Response) => {
    // Each test below checks what it reads of it.
    const json = await response.json() as any // oxlint-disable-line typescript/no-explicit-any
    return { status: response.status, language: response.headers.get('content-language'), json }
  }
  const registered = await send('POST', '/auth/register', { email, password })
  token = registered.json.accessToken
  const [mail] = await eventually(async () => {
    const mails = await mailsOf(stack)
    return mails.length > 0 ? mails : undefined
  })
  const code = /\b\d{6}\b/.exec(mail!.text)?.[0]
  await send('POST', '/auth/verify-email', { userId: registered.json.user.id, code })
  return { send, mail: mail! }
}

t.test('a folder makes the app another one, in three languages', async (t) => {
  await withStack(async (stack) => {
    const { send, mail } = await join(stack)
    const seen: Record<string, string> = {}
    const page = async (url: string) => seen[url] = await (await fetch(url, { headers: spanish })).text()

    t.match(mail, { from: 'hello@fitly.example', subject: /^Tu código de Fitly es \d{6}$/, html: /lang="es"/ })
    t.match(mail.html, /Te damos la bienvenida a Fitly/)
    t.match(mail.html, /background:#9a2617/)

    await send('POST', '/notifications/push', { token: 'a-token', platform: 'ANDROID' })
    await send('POST', '/notifications/push/test')
    const push = await eventually(async () => {
      const pushes = await (await fetch(`${stack.devPage.url}/api/pushes`)).json() as object[]
      return pushes[0]
    })
    t.match(push, {
      message: {
        notification: { title: 'Funciona', body: 'Fitly puede enviar notificaciones a este dispositivo.' }
      }
    })
    seen['push'] = JSON.stringify(push)

    const { json: options } = await send('GET', '/onboarding/options?type=sport')
    t.match(options.options[0], { optionId: 'curling', label: 'Curling sobre hielo', icon: '🥌' })
    t.match(await send('POST', '/auth/login', { email, password: 'Wrong-horse-7' }), {
      status: 401,
      language: 'es',
      json: { error: /correo|contraseña/ }
    })

    t.equal((await send('GET', '/fasting')).status, 404)
    const meta = (await send('GET', '/meta')).json
    t.match(meta.data, {
      name: 'Fitly',
      links: { terms: 'https://fitly.example/terms' },
      supportEmail: 'help@fitly.example',
      locales: ['en', 'id', 'es'],
      features: { fasting: false, stories: true },
      limits: { product: { freeSwipesPerDay: 20, storiesPerDay: 10 } }
    })
    seen['meta'] = JSON.stringify(meta)

    const document = await eventually(async () => {
      const read = JSON.parse(await page(`${stack.gateway.url}/openapi.json`)) as {
        info: { title: string },
        paths: Record<string, object>,
        'x-missing'?: string[]
      }
      // A service that was busy is left out.
      return read['x-missing'] ? undefined : read
    })
    t.equal(document.info.title, 'Fitly API')
    t.ok(document.paths['/stories'])
    t.strictSame(Object.keys(document.paths).filter((each) => each.startsWith('/fasting')), [])

    for (const each of pagesOf(stack)) await page(each)
    t.match(seen[`${stack.gateway.url}/reset-password`], /<html lang="es">[^]*Elige una contraseña nueva/)
    t.match(seen[`${stack.console.url}/sign-in`], /<html lang="es">[^]*Fitly[^]*Entrar con una llave de acceso/)

    seen['passkey'] = await readPasskeyOptions(stack)
    t.match(JSON.parse(seen['passkey']), { data: { rp: { name: /Fitly/ } } })

    Object.assign(seen, await readArchive(stack, send))
    t.match(seen['index.html'], /<html lang="es">[^]*Fitly/)
    for (const [index, each] of (await mailsOf(stack)).entries()) seen[`mail ${index}`] = JSON.stringify(each)

    for (const [name, content] of Object.entries(seen)) {
      t.strictSame(content.replaceAll(TECHNICAL, '').match(/.{0,40}tandem.{0,40}/gi), null, name)
    }
  }, { BRAND_DIR: createBrand(t) })
})

const pagesOf = ({ gateway, console, devPage }: Stack) => [
  ...[
    'reset-password',
    'delete-account',
    'restore-address',
    'appeal',
    'trusted-contact',
    'my-data',
    'sign-in',
    'verify-email',
    'invite/K7TRQ2MX',
    'docs/',
    'asyncapi.json',
    '.well-known/security.txt'
  ].map((each) => `${gateway.url}/${each}`),
  `${console.url}/sign-in`,
  `${console.url}/enroll`,
  ...['', 'page/app.js', 'page/rows.js', 'config.json', 'brand/es'].map((each) => `${devPage.url}/${each}`)
]

/** What a browser shows when an operator adds a passkey. */
async function readPasskeyOptions (stack: Stack) {
  const link = await inviteInShell(stack, 'invite-first', 'admin@fitly.example')
  const token = new URL(link).hash.replace(/^#(token=)?/, '')
  const response = await fetch(`${stack.services['identity']!.url}/operator/enrollment/options`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token })
  })
  return await response.text()
}

/** The files of a copy of everything in the account. */
async function readArchive (stack: Stack, send: Awaited<ReturnType<typeof join>>['send']) {
  const { json: { data: { proof } } } = await send('POST', '/account/proof', { purpose: 'EXPORT', password })
  await send('POST', '/account/export', { proof })
  const link = await eventually(async () => {
    const mails = await mailsOf(stack)
    return mails.map(({ text }) => /\/my-data#(\S+)/.exec(text)?.[1]).find((each) => each !== undefined)
  })
  const file = `${stack.gateway.url}/api/mobile/v1/account/export/file?token=${link}`
  const archive = await fromBufferPromise(Buffer.from(await (await fetch(file)).arrayBuffer()))
  const files: Record<string, string> = {}
  for await (const entry of archive.eachEntry()) {
    files[entry.fileName] = await text(await archive.openReadStreamPromise(entry))
  }
  return files
}
