import { randomUUID } from 'node:crypto'
import { Counter } from 'prom-client'
import Type, { type Static } from 'typebox'
import { Check } from 'typebox/value'
import { readBrand } from '@tandem/brand-kit'
import { ConfigError, defineError, type ErrorParams, type Log } from '@tandem/process-kit'
import { signWebhook } from './webhook-signature.ts'

/** What a service asks before it changes something. */
interface Questions {
  'before-registration': { email: string, name: string | null, locale: string, provider: string | null }
  'before-message': { accountId: string, matchId: string, content: string | null, hasImage: boolean }
  /** `postId` is null for a new post. `otherTexts` is what it shows besides its content, such as the options of a poll. */
  'before-post': {
    accountId: string,
    postId: string | null,
    visibility: string,
    content: string,
    otherTexts: string[],
    mediaUrls: string[]
  }
}

type Question = keyof Questions
/** What a provider of the operator sends in place of ours. */
type Sending = 'send-mail' | 'send-push'

const Url = Type.String({ pattern: '^https?://' })
const Secret = Type.String({ pattern: '^whsec_[A-Za-z0-9+/]{32,}={0,2}$' })
const AskedHook = Type.Object({ url: Url, secret: Secret, without: Type.Enum(['allow', 'deny']) })
const SendingHook = Type.Object({ url: Url, secret: Secret })
const Settings = Type.Partial(
  Type.Object({
    'before-registration': AskedHook,
    'before-message': AskedHook,
    'before-post': AskedHook,
    'send-mail': SendingHook,
    'send-push': SendingHook
  }),
  { additionalProperties: false }
)

/** What a hook of registration can set of the new account; the locale is one of the brand. */
const SetFields = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  locale: Type.Optional(Type.Refine(Type.String(), (locale) => readBrand().texts.locales.includes(locale)))
})
const Answer = Type.Object({
  decision: Type.Enum(['allow', 'deny']),
  text: Type.Optional(Type.String({ maxLength: 500 })),
  set: Type.Optional(SetFields)
})

/** The variable that turns hooks on. Spread it into the configuration of a service that asks. */
export const HooksEnvironment = {
  HOOKS: Type.Optional(Type.String({
    description: 'Questions to systems of the operator, as JSON: {"before-post": {"url", "secret", "without"}}'
  }))
}

const ASK_DEADLINE_MS = 1_000
const SEND_DEADLINE_MS = 10_000
const MAX_ANSWER_BYTES = 64 * 1024

const questionsTotal = new Counter({
  name: 'hook_questions_total',
  help: 'Questions to hooks by what came of them',
  labelNames: ['hook', 'outcome'] as const
})
for (const hook of ['before-registration', 'before-message', 'before-post'] satisfies Question[]) {
  for (const outcome of ['allow', 'deny', 'unanswered']) questionsTotal.inc({ hook, outcome }, 0)
}

/** A hook denied a change, in the words of its answer if it has some. */
export class HookDenied extends defineError<ErrorParams>('FORBIDDEN.byHook', 403) {
  override readonly textKey: string

  constructor (reason: 'byHook' | 'notChecked' | { text: string } = 'byHook') {
    super(typeof reason === 'string' ? {} : reason)
    this.textKey = `FORBIDDEN.${typeof reason === 'string' ? reason : 'inWordsOfHook'}`
  }
}

export interface Hooks {
  /** Whether there is such a hook: what only its question needs is read only then. */
  isOn(name: Question): boolean
  /**
   * Asks a hook before a change, outside any transaction. Without the hook it allows everything.
   * @returns what the hook sets @throws HookDenied
   */
  ask<Name extends Question>(name: Name, question: Questions[Name]): Promise<Static<typeof SetFields>>
  /** Sends by the provider of the operator; undefined if there is none. @throws if it does not respond within 10 s */
  senderOf(name: Sending): ((id: string, data: object) => Promise<Sent>) | undefined
}

interface Sent {
  status: number
  retryAfter: string | null
}

/** @param settings the variable HOOKS @param options.deadlineMs of questions, for tests @throws ConfigError */
export function createHooks (settings: string | undefined, log: Log, { deadlineMs = ASK_DEADLINE_MS } = {}): Hooks {
  const hooks = settings === undefined ? {} : parseSettings(settings)

  return {
    isOn: (name) => hooks[name] !== undefined,
    async ask (name, question) {
      const hook = hooks[name]
      if (!hook) return {}
      const answer = await askHook(name, hook, question, deadlineMs).catch((error: unknown) => {
        log.warn({ err: error, hook: name, without: hook.without }, 'a hook did not answer')
      })
      questionsTotal.inc({ hook: name, outcome: answer?.decision ?? 'unanswered' })
      if (!answer && hook.without === 'deny') throw new HookDenied('notChecked')
      if (answer?.decision === 'deny') {
        throw new HookDenied(answer.text ? { text: answer.text } : 'byHook')
      }
      return answer?.set ?? {}
    },
    senderOf (name) {
      const hook = hooks[name]
      return hook && (async (id, data) => {
        const response = await post(name, hook, { id, data, deadlineMs: SEND_DEADLINE_MS })
        await response.body?.cancel()
        return { status: response.status, retryAfter: response.headers.get('retry-after') }
      })
    }
  }
}

function parseSettings (text: string): Static<typeof Settings> {
  let settings: unknown
  try {
    settings = JSON.parse(text)
  } catch {
    throw new ConfigError('HOOKS must be JSON')
  }
  if (!Check(Settings, settings)) {
    throw new ConfigError(
      'HOOKS must be {<hook>: {url, secret: "whsec_…", without: "allow" or "deny"}}; send-mail and send-push have no without'
    )
  }
  return settings
}

/** @throws unless it answers in time and in the right form */
async function askHook (name: Question, hook: Static<typeof AskedHook>, data: object, deadlineMs: number) {
  const response = await post(name, hook, { id: randomUUID(), data, deadlineMs })
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`status ${response.status}`)
  }
  const answer: unknown = JSON.parse(await readText(response))
  if (!Check(Answer, answer)) throw new Error('the answer is not {decision: "allow" or "deny", text?, set?}')
  return answer
}

async function post (
  type: Question | Sending,
  { url, secret }: Static<typeof SendingHook>,
  { id, data, deadlineMs }: { id: string, data: object, deadlineMs: number }
) {
  const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data })
  return await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signWebhook({ id, body, secret }) },
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(deadlineMs)
  })
}

async function readText ({ body }: Response) {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
