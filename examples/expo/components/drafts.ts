import { useRef, useState } from 'react'
import { useAttempt } from './attempt.ts'

/**
 * For a page that closes when it has sent something. The headers of a request: the same body that is sent again after a
 * lost response has the same key, so it happens once.
 */
export function useDraftHeaders () {
  const sent = useRef({ body: '', key: '' })
  return (draft: object) => {
    const body = JSON.stringify(draft)
    if (body !== sent.current.body) sent.current = { body, key: `${Date.now()}-${Math.random()}` }
    return { 'idempotency-key': sent.current.key }
  }
}

/** A text that people write and send. It is cleared at once: who holds the Enter key sends it once. */
export function useDraftText (send: (text: string) => Promise<unknown>) {
  const [text, setText] = useState('')
  const { attempt, error } = useAttempt()
  const submit = async () =>
    await attempt(async () => {
      const content = text.trim()
      if (content === '') return
      setText('')
      // Not stored, as when the disk is full.
      await send(content).catch((error: unknown) => {
        setText(content)
        throw error
      })
    })
  return { text, setText, submit, error }
}
