import { useState } from 'react'
import { messageOf } from './errors.ts'

/** What a press does: whether it is under way, and the sentence to show if it went wrong. */
export function useAttempt () {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState('')
  const attempt = async (work: () => unknown) => {
    setBusy(true)
    setError('')
    try {
      await work()
    } catch (error) {
      setError(messageOf(error))
    }
    setBusy(false)
  }
  return { attempt, isBusy, error }
}
